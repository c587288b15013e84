// erf: y = 2 / sqrt(pi) * (integral of e^(-t^2) from 0 to x).
#include <numbers>

#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::erf;

// dx = dy * 2 / sqrt(pi) * e^(-x^2)
Tensors grad(const GradCall& c, const A&) {
  const Tensor& x = c.in(0);
  const Tensor bell = prim::exp(prim::neg(prim::mul(x, x)));
  return {prim::mul(c.dy[0], prim::scale(bell, 2 * std::numbers::inv_sqrtpi))};
}

}  // namespace
HORNGATE_PRIMITIVE(erf, {.infer = rules::unary<A, rules::Kind::floats>, .grad = grad})
}  // namespace horngate
