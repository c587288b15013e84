// phase(train, test): one of its operands, chosen when the plan is made; the other costs nothing.
#include "prims/build.h"

namespace horngate {
namespace {

Types infer(const InferCall& c, const attrs::phase&) {
  return {join("in_train_phase", c.in[0], c.in[1])};
}

Tensors grad(const GradCall& c, const attrs::phase&) {
  const Tensor& dy = c.dy[0];
  const Tensor zero = prim::zeros_like(dy);
  return {emit(attrs::phase{}, {dy, zero}), emit(attrs::phase{}, {zero, dy})};
}

}  // namespace
HORNGATE_PRIMITIVE(phase, {.infer = infer, .grad = grad})
}  // namespace horngate
