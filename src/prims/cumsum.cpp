// cumsum: running sum along an axis: y_i = x_0 + .. + x_i; `exclusive` leaves x_i out, `reverse`
// starts at the end.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::cumsum;

// dx = running sum of dy the other way: x_i is in every y_j with j >= i (j > i when exclusive)
Tensors grad(const GradCall& c, const A& a) {
  return {emit(A{.axis = a.axis, .exclusive = a.exclusive, .reverse = !a.reverse}, {c.dy[0]})};
}

}  // namespace
HORNGATE_PRIMITIVE(cumsum, {.infer = rules::along_axis<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
