// reverse: x backwards along axes.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::reverse;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("reverse", c);
  for (int64_t axis : a.axes) normalize_axis("reverse", axis, c.in[0].shape);
  return {c.in[0]};
}

// dx = dy backwards
Tensors grad(const GradCall& c, const A& a) { return {prim::reverse(c.dy[0], a.axes)}; }

}  // namespace
HORNGATE_PRIMITIVE(reverse, {.infer = infer, .grad = grad})
}  // namespace horngate
