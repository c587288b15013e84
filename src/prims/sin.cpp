// sin: y = sin x.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::sin;

// dx = dy * cos x
Tensors grad(const GradCall& c, const A&) { return {prim::mul(c.dy[0], prim::cos(c.in(0)))}; }

}  // namespace
HORNGATE_PRIMITIVE(sin, {.infer = rules::unary<A, rules::Kind::floats>, .grad = grad})
}  // namespace horngate
