// exp: y = e^x.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::exp;

// dx = dy * y
Tensors grad(const GradCall& c, const A&) { return {prim::mul(c.dy[0], c.out())}; }

}  // namespace
HORNGATE_PRIMITIVE(exp, {.infer = rules::unary<A, rules::Kind::floats>, .grad = grad})
}  // namespace horngate
