// tanh: y = (e^x - e^-x) / (e^x + e^-x).
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::tanh;

// dx = dy * (1 - y^2)
Tensors grad(const GradCall& c, const A&) {
  const Tensor y = c.out();
  return {prim::mul(c.dy[0], prim::sub(prim::scalar(1, y.dtype()), prim::mul(y, y)))};
}

}  // namespace
HORNGATE_PRIMITIVE(tanh, {.infer = rules::unary<A, rules::Kind::floats>, .grad = grad})
}  // namespace horngate
