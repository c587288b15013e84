// rsqrt: y = x^(-1/2).
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::rsqrt;

// dx = dy * -0.5 * y^3
Tensors grad(const GradCall& c, const A&) {
  const Tensor y = c.out();
  return {prim::mul(prim::scale(c.dy[0], -0.5), prim::mul(y, prim::mul(y, y)))};
}

Tensors decompose(std::span<const Tensor> in, const A&) {
  return {prim::div(prim::scalar(1, in[0].dtype()), prim::sqrt(in[0]))};
}

}  // namespace
HORNGATE_PRIMITIVE(rsqrt, {.infer = rules::unary<A, rules::Kind::floats>,
                           .grad = grad,
                           .decompose = decompose})
}  // namespace horngate
