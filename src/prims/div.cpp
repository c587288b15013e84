// div: y = a / b, for floats.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::div;

// da = dy / b, db = -(dy / b) * y
Tensors grad(const GradCall& c, const A&) {
  const Tensor da = prim::div(c.dy[0], c.in(1));
  return rules::sum_to_operands(c, da, prim::neg(prim::mul(da, c.out())));
}

}  // namespace
HORNGATE_PRIMITIVE(div, {.infer = rules::binary<A, rules::Kind::floats>, .grad = grad})
}  // namespace horngate
