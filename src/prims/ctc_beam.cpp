// ctc_beam: the top_paths most probable label sequences of the first input_length[b] steps, by a
// search that keeps beam_width prefixes; a step draws a class from softmax(inputs[b, t]), the blank
// is the last class. merge_repeated merges equal neighbours in the result. Results: decoded int64
// (top_paths, batch, time) padded with -1; widths int64 (top_paths,), the longest of each;
// log_probability (batch, top_paths), -inf where there are fewer sequences.
#include "prims/ctc.h"

namespace horngate {
namespace {

using A = attrs::ctc_beam;

Types infer(const InferCall& c, const A& a) {
  Shape inputs = rules::check_ctc_inputs("ctc_beam", c);
  rules::check_ctc_length("ctc_beam", "input_length", c.in[1], &inputs);
  check(a.beam_width >= 1, "ctc_beam", "beam_width must be at least 1; got ", a.beam_width, ".");
  check(a.top_paths >= 1 && a.top_paths <= a.beam_width, "ctc_beam", "top_paths must be in [1, ",
        a.beam_width, "], the beam_width; got ", a.top_paths, ".");
  return {TensorType(DType::int64, Shape(Ints{a.top_paths, inputs.dim(0), inputs.dim(1)})),
          TensorType(DType::int64, Shape(Ints{a.top_paths})),
          TensorType(c.in[0].dtype, Shape(Ints{inputs.dim(0), a.top_paths}))};
}

}  // namespace
HORNGATE_PRIMITIVE(ctc_beam, {.infer = infer, .flags = kNoGradient})
}  // namespace horngate
