// sub: y = a - b.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::sub;

// da = dy, db = -dy
Tensors grad(const GradCall& c, const A&) {
  return rules::sum_to_operands(c, c.dy[0], prim::neg(c.dy[0]));
}

}  // namespace
HORNGATE_PRIMITIVE(sub, {.infer = rules::binary<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
