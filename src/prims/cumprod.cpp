// cumprod: running product along an axis: y_i = x_0 * .. * x_i; `exclusive` leaves x_i out,
// `reverse` starts at the end.
#include "prims/recurrence.h"

namespace horngate {
namespace {

using A = attrs::cumprod;

// dx_i = (product before x_i) g_i with g_i = sum_(k >= i) dy_k (product of x_(i+1) .. x_k), which is the
// recurrence g_i = dy_i + x_(i+1) g_(i+1). Exclusive: g_i = dy_(i+1) + x_(i+1) g_(i+1). There is no division,
// so this and all further derivatives are right even where x is 0.
Tensors grad(const GradCall& c, const A& a) {
  const Tensor& x = c.in(0);
  const Tensor before = emit(A{.axis = a.axis, .exclusive = true, .reverse = a.reverse}, {x});
  const Tensor dy = a.exclusive ? element_before(c.dy[0], a.axis, !a.reverse) : c.dy[0];
  const Tensor g = emit(attrs::recurrence{.axis = a.axis, .reverse = !a.reverse},
                        {element_before(x, a.axis, !a.reverse), dy});
  return {prim::mul(before, g)};
}

}  // namespace
HORNGATE_PRIMITIVE(cumprod, {.infer = rules::along_axis<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
