// round: the nearest integer; of two equally near ones, the even one.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::round;

// With f = floor x: f below the half, f + 1 above it, and at the half whichever is even.
Tensors decompose(std::span<const Tensor> in, const A&) {
  const Tensor& x = in[0];
  if (!is_float(x.dtype())) return {x};
  const Tensor half = prim::scalar(0.5, x.dtype()), f = prim::floor(x), up = prim::shift(f, 1);
  const Tensor rest = prim::sub(x, f);
  const Tensor even = prim::scale(prim::floor(prim::scale(up, 0.5)), 2);
  const Tensor tie_or_above = prim::select(prim::gt(rest, half), up, even);
  return {prim::select(prim::lt(rest, half), f, tie_or_above)};
}

}  // namespace
HORNGATE_PRIMITIVE(round, {.infer = rules::unary<A, rules::Kind::number>,
                           .decompose = decompose,
                           .flags = kNoGradient})
}  // namespace horngate
