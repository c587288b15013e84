// floor: the largest integer not above x.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(floor,
                   {.infer = rules::unary<attrs::floor, rules::Kind::number>, .flags = kNoGradient})

}  // namespace horngate
