// log1p: y = ln(1 + x), accurate near 0.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::log1p;

// dx = dy / (1 + x)
Tensors grad(const GradCall& c, const A&) { return {prim::div(c.dy[0], prim::shift(c.in(0), 1))}; }

// With u = 1 + x rounded, ln(u) * x / (u - 1) undoes the rounding error of u. Above 1 that error
// does not matter, and at infinity the quotient would be inf / inf.
Tensors decompose(std::span<const Tensor> in, const A&) {
  const Tensor &x = in[0], one = prim::scalar(1, x.dtype());
  const Tensor u = prim::add(x, one), log_u = prim::log(u);
  const Tensor near = prim::div(prim::mul(log_u, x), prim::sub(u, one));
  const Tensor small = prim::select(prim::eq(u, one), x, near);
  return {prim::select(prim::gt(x, one), log_u, small)};
}

}  // namespace
HORNGATE_PRIMITIVE(log1p, {.infer = rules::unary<A, rules::Kind::floats>,
                           .grad = grad,
                           .decompose = decompose})
}  // namespace horngate
