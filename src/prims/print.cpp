// print: y = x; running it writes a line with the message and x.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::print;

// dx = dy, printing nothing
Tensors grad(const GradCall& c, const A&) { return {c.dy[0]}; }

}  // namespace
HORNGATE_PRIMITIVE(print,
                   {.infer = rules::unary<A, rules::Kind::any>, .grad = grad, .flags = kEffect})
}  // namespace horngate
