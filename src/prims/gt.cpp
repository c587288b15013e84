// gt: a > b, as bool.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(gt, {.infer = rules::comparison<attrs::gt, rules::Kind::number>,
                        .flags = kNoGradient})

}  // namespace horngate
