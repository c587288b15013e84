// phase(train, test): one of its operands, chosen when the plan is made; the other costs nothing.
#include "prims/build.h"

namespace horngate {
namespace {

Types infer(const InferCall& c, const attrs::phase&) {
  return {join("in_train_phase", c.in[0], c.in[1])};
}

// dy has the shape of the operand that was chosen; the zeros for the other one have its own.
Tensors grad(const GradCall& c, const attrs::phase&) {
  const Tensor& dy = c.dy[0];
  return {emit(attrs::phase{}, {dy, prim::zeros_like(c.in(0))}),
          emit(attrs::phase{}, {prim::zeros_like(c.in(1)), dy})};
}

}  // namespace
HORNGATE_PRIMITIVE(phase, {.infer = infer, .grad = grad})
}  // namespace horngate
