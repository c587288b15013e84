// sqrt: y = x^(1/2).
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::sqrt;

// dx = dy * 0.5 / y
Tensors grad(const GradCall& c, const A&) {
  return {prim::div(prim::scale(c.dy[0], 0.5), c.out())};
}

}  // namespace
HORNGATE_PRIMITIVE(sqrt, {.infer = rules::unary<A, rules::Kind::floats>, .grad = grad})
}  // namespace horngate
