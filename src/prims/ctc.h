// Shape rules that the CTC primitives share.
#pragma once

#include "prims/rules.h"

namespace horngate::rules {

/// inputs (batch, time, classes), float, with at least the blank as a class; 1-D integers with one
/// entry per sample. Returns the shape of inputs, with the batch filled in if only the others know
/// it.
inline Shape check_ctc_inputs(const char* name, const InferCall& c) {
  check_dense(name, c);
  check_kind(name, "inputs", c.in[0].dtype, Kind::floats);
  check_rank(name, "inputs (batch, time, classes)", c.in[0].shape, 3);
  check(c.in[0].shape.dim(2) != 0, name, "inputs must have a class for the blank; got shape ",
        c.in[0].shape, ".");
  return c.in[0].shape;
}

inline void check_ctc_length(const char* name, const char* what, const TensorType& t,
                             Shape* inputs) {
  check_index(name, what, t.dtype);
  check_rank(name, what, t.shape, 1);
  const int64_t batch = same_dim(inputs->dim(0), t.shape.dim(0));
  check(batch != kConflict, name, what, " must have one entry per sample of inputs ", *inputs,
        "; got shape ", t.shape, ".");
  inputs->dims()[0] = batch;
}

/// Operands inputs, labels, input_length, label_length.
inline Shape check_ctc_loss(const char* name, const InferCall& c) {
  Shape inputs = check_ctc_inputs(name, c);
  check_index(name, "labels", c.in[1].dtype);
  check_rank(name, "labels (batch, max_labels)", c.in[1].shape, 2);
  const int64_t batch = same_dim(inputs.dim(0), c.in[1].shape.dim(0));
  check(batch != kConflict, name, "labels must have one row per sample of inputs ", inputs,
        "; got shape ", c.in[1].shape, ".");
  inputs.dims()[0] = batch;
  check_ctc_length(name, "input_length", c.in[2], &inputs);
  check_ctc_length(name, "label_length", c.in[3], &inputs);
  return inputs;
}

/// The same loss as ctc_loss, from primitives that can be differentiated any number of times.
Tensor ctc_loss_of_parts(const Tensor& inputs, const Tensor& labels, const Tensor& input_length,
                         const Tensor& label_length);

}  // namespace horngate::rules
