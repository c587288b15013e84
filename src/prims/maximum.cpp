// maximum: the larger of a and b.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::maximum;

// da = dy where a >= b, else 0; db = dy where da is not. For a scalar a (relu), a >= y is equivalent
// to a >= b, and needs only y, which the next layer keeps anyway, instead of b.
Tensors grad(const GradCall& c, const A&) {
  const Tensor &dy = c.dy[0], zero = rules::zero_of(dy);
  const bool by_result = c.in(0).shape().ndim() == 0 && c.in(1).shape().ndim() > 0;
  const Tensor first = prim::ge(c.in(0), by_result ? c.out() : c.in(1));
  return rules::sum_to_operands(c, prim::select(first, dy, zero), prim::select(first, zero, dy));
}

}  // namespace
HORNGATE_PRIMITIVE(maximum, {.infer = rules::binary<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
