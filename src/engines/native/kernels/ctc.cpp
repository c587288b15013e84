// Sizes, lengths and labels of the CTC kernels.
#include "engines/native/kernels/ctc.h"

#include <algorithm>

namespace horngate::native::kernels::ctc {
namespace {

void read_ints(DType dtype, const void* from, int64_t n, int64_t* to) {
  if (dtype == DType::int32) {
    const auto* p = static_cast<const int32_t*>(from);
    for (int64_t i = 0; i < n; ++i) to[i] = p[i];
  } else {
    const auto* p = static_cast<const int64_t*>(from);
    for (int64_t i = 0; i < n; ++i) to[i] = p[i];
  }
}

void check_lengths(const char* name, const char* what, const char* axis, int64_t most, int64_t n,
                   const int64_t* lengths) {
  for (int64_t i = 0; i < n; ++i)
    check(lengths[i] >= 0 && lengths[i] <= most, name, what, " must be in [0, ", most, "], the ",
          axis, "; got ", lengths[i], " for sample ", i, ".");
}

}  // namespace

Sizes sizes_of(const KernelCall& call, bool has_labels) {
  const Shape& x = call.in[0].shape;
  return {x.dim(0), x.dim(1), x.dim(2), has_labels ? call.in[1].shape.dim(1) : 0};
}

Targets Targets::take(Scratch& scratch, const Sizes& s) {
  Targets t;
  t.input_length = scratch.take<int64_t>(s.batch);
  t.label_length = scratch.take<int64_t>(s.batch);
  t.labels = scratch.take<int64_t>(s.batch * s.labels);
  return t;
}

void read_input_length(const char* name, const Sizes& s, DType dtype, const void* from,
                       int64_t* to) {
  read_ints(dtype, from, s.batch, to);
  check_lengths(name, "input_length", "time steps of inputs", s.time, s.batch, to);
}

void read_targets(const char* name, const Sizes& s, const TensorType* types, const void* const* in,
                  const Targets& to) {
  read_ints(types[0].dtype, in[0], s.batch * s.labels, to.labels);
  read_input_length(name, s, types[1].dtype, in[1], to.input_length);
  read_ints(types[2].dtype, in[2], s.batch, to.label_length);
  check_lengths(name, "label_length", "width of labels", s.labels, s.batch, to.label_length);
  // What stands beyond the length does not count; Keras users pad with -1. A blank also ends a
  // sample's labels, as in TensorFlow: programs use it for "nothing to read here".
  for (int64_t b = 0; b < s.batch; ++b) {
    const int64_t given = to.label_length[b];
    for (int64_t i = 0; i < given; ++i) {
      const int64_t label = to.labels[b * s.labels + i];
      check(label >= 0 && label <= s.blank(), name, "labels must be in [0, ", s.blank(), ") for ",
            s.classes, " classes, of which the last is the blank; got ", label, " in sample ", b,
            ".");
      if (label == s.blank()) to.label_length[b] = std::min(to.label_length[b], i);
      check(label == s.blank() || to.label_length[b] == given, name,
            "labels must not continue after a blank (", s.blank(), "); got ", label, " in sample ",
            b, ".");
    }
  }
}

}  // namespace horngate::native::kernels::ctc
