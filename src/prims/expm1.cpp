// expm1: y = e^x - 1, accurate near 0.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::expm1;

// dx = dy * (y + 1)
Tensors grad(const GradCall& c, const A&) { return {prim::mul(c.dy[0], prim::shift(c.out(), 1))}; }

// e^x - 1 = tanh(x / 2) * (e^x + 1): no cancellation, and right at 0 and the infinities
Tensors decompose(std::span<const Tensor> in, const A&) {
  const Tensor t = prim::tanh(prim::scale(in[0], 0.5));
  return {prim::mul(t, prim::shift(prim::exp(in[0]), 1))};
}

}  // namespace
HORNGATE_PRIMITIVE(expm1, {.infer = rules::unary<A, rules::Kind::floats>,
                           .grad = grad,
                           .decompose = decompose})
}  // namespace horngate
