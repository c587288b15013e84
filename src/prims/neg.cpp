// neg: y = -x.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::neg;

// dx = -dy
Tensors grad(const GradCall& c, const A&) { return {prim::neg(c.dy[0])}; }

}  // namespace
HORNGATE_PRIMITIVE(neg, {.infer = rules::unary<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
