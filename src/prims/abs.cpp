// abs: y = |x|.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::abs;

// dx = dy where x > 0, -dy where x < 0, else 0
Tensors grad(const GradCall& c, const A&) {
  const Tensor &x = c.in(0), &dy = c.dy[0], zero = rules::zero_of(x);
  const Tensor falling = prim::select(prim::lt(x, zero), prim::neg(dy), zero);
  return {prim::select(prim::gt(x, zero), dy, falling)};
}

}  // namespace
HORNGATE_PRIMITIVE(abs, {.infer = rules::unary<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
