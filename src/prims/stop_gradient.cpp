// stop_gradient: y = x, but nothing flows back.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(stop_gradient, {.infer = rules::unary<attrs::stop_gradient, rules::Kind::any>,
                                   .flags = kNoGradient})

}  // namespace horngate
