// log: y = ln x.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::log;

// dx = dy / x
Tensors grad(const GradCall& c, const A&) { return {prim::div(c.dy[0], c.in(0))}; }

}  // namespace
HORNGATE_PRIMITIVE(log, {.infer = rules::unary<A, rules::Kind::floats>, .grad = grad})
}  // namespace horngate
