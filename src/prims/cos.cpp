// cos: y = cos x.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::cos;

// dx = -dy * sin x
Tensors grad(const GradCall& c, const A&) {
  return {prim::neg(prim::mul(c.dy[0], prim::sin(c.in(0))))};
}

}  // namespace
HORNGATE_PRIMITIVE(cos, {.infer = rules::unary<A, rules::Kind::floats>, .grad = grad})
}  // namespace horngate
