// mul: y = a * b.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::mul;

// da = dy * b, db = dy * a
Tensors grad(const GradCall& c, const A&) {
  const Tensor& dy = c.dy[0];
  return rules::sum_to_operands(c, prim::mul(dy, c.in(1)), prim::mul(dy, c.in(0)));
}

}  // namespace
HORNGATE_PRIMITIVE(mul, {.infer = rules::binary<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
