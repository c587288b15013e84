// reduce_sum: the sum along axes.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::reduce_sum;

// dx = dy, repeated along the axes
Tensors grad(const GradCall& c, const A& a) {
  return {prim::broadcast_like(rules::with_axes(c.dy[0], a.axes, a.keepdims), c.in(0))};
}

}  // namespace
HORNGATE_PRIMITIVE(reduce_sum, {.infer = rules::reduction<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
