// ctc_loss_grad: gradient of ctc_loss by inputs, times dloss (batch,), the fifth operand:
//   dx[b, t, k] = dloss[b] (softmax(x[b, t])[k] - p(class k at step t | labels[b]))
// zero where the loss is infinite and for t >= input_length[b].
// It has no gradient of its own: the second derivative is the covariance of the lattice's states
// over all pairs of steps, time^2 classes^2 numbers per sample, and no primitive holds a lattice of
// varying length.
#include "prims/ctc.h"

namespace horngate {
namespace {

using A = attrs::ctc_loss_grad;

Types infer(const InferCall& c, const A&) {
  Shape inputs = rules::check_ctc_loss("ctc_loss_grad", c);
  const TensorType& dloss = c.in[4];
  check(dloss.dtype == c.in[0].dtype && dloss.shape.ndim() == 1 &&
            rules::same_dim(inputs.dim(0), dloss.shape.dim(0)) != rules::kConflict,
        "ctc_loss_grad", "dloss must be ", c.in[0].dtype, " with one entry per sample of inputs ",
        inputs, "; got ", dloss.dtype, " of shape ", dloss.shape, ".");
  inputs.dims()[0] = rules::same_dim(inputs.dim(0), dloss.shape.dim(0));
  return {TensorType(c.in[0].dtype, std::move(inputs))};
}

// Leaving it out would give a wrong number: part of the second derivative flows around this node.
Tensors grad(const GradCall&, const A&) {
  fail<NotImplementedError>("gradients", "ctc_batch_cost has no second derivative.");
}

}  // namespace
HORNGATE_PRIMITIVE(ctc_loss_grad, {.infer = infer, .grad = grad})
}  // namespace horngate
