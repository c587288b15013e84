// ctc_greedy: the most probable class of each of the first input_length[b] steps, with repeats
// merged (merge_repeated) and the blank, which is the last class, dropped. Results: decoded int64
// (batch, time) padded with -1; width int64 (), the longest of them; neg_sum_logits (batch, 1),
// minus the sum of the largest raw inputs.
#include "prims/ctc.h"

namespace horngate {
namespace {

using A = attrs::ctc_greedy;

Types infer(const InferCall& c, const A&) {
  Shape inputs = rules::check_ctc_inputs("ctc_greedy", c);
  rules::check_ctc_length("ctc_greedy", "input_length", c.in[1], &inputs);
  return {TensorType(DType::int64, Shape(Ints{inputs.dim(0), inputs.dim(1)})),
          TensorType(DType::int64, Shape()),
          TensorType(c.in[0].dtype, Shape(Ints{inputs.dim(0), 1}))};
}

}  // namespace
HORNGATE_PRIMITIVE(ctc_greedy, {.infer = infer, .flags = kNoGradient})
}  // namespace horngate
