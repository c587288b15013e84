// reduce_max: the largest element along axes.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::reduce_max;

// dx = dy / n at each of the n elements that equal y, else 0
Tensors grad(const GradCall& c, const A& a) {
  const Tensor& x = c.in(0);
  const Tensor at = prim::eq(x, rules::with_axes(c.out(), a.axes, a.keepdims));
  const Tensor n = prim::reduce_sum(prim::cast(at, x.dtype()), a.axes, true);
  const Tensor share = prim::div(rules::with_axes(c.dy[0], a.axes, a.keepdims), n);
  return {prim::select(at, share, rules::zero_of(x))};
}

}  // namespace
HORNGATE_PRIMITIVE(reduce_max, {.infer = rules::reduction<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
