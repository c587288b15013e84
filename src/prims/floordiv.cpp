// floordiv: y = floor(a / b).
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::floordiv;

}  // namespace
// No decomposition: a / b might round up to a whole number, and integers have no such quotient.
HORNGATE_PRIMITIVE(floordiv, {.infer = rules::binary<A, rules::Kind::number>, .flags = kNoGradient})
}  // namespace horngate
