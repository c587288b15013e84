// squeeze: drops axes of size 1.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::squeeze;

Types infer(const InferCall& c, const A& a) {
  const Types out = rules::infer_reduction("squeeze", c, a.axes, false, rules::Kind::any);
  const Shape& x = c.in[0].shape;
  for (int64_t axis : a.axes)
    check(rules::same_dim(x.dim(axis), 1) != rules::kConflict, "squeeze",
          "removed axes must have size 1; got axis ", axis, " of ", x, ".");
  return out;
}

// dx = dy with the axes back
Tensors grad(const GradCall& c, const A& a) { return {prim::expand_dims(c.dy[0], a.axes)}; }

}  // namespace
HORNGATE_PRIMITIVE(squeeze, {.infer = infer, .grad = grad})
}  // namespace horngate
