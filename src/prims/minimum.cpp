// minimum: the smaller of a and b.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::minimum;

// da = dy where a <= b, else 0; db = dy where da is not
Tensors grad(const GradCall& c, const A&) {
  const Tensor &dy = c.dy[0], zero = rules::zero_of(dy);
  const Tensor first = prim::le(c.in(0), c.in(1));
  return rules::sum_to_operands(c, prim::select(first, dy, zero), prim::select(first, zero, dy));
}

}  // namespace
HORNGATE_PRIMITIVE(minimum, {.infer = rules::binary<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
