// lt: a < b, as bool.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(lt, {.infer = rules::comparison<attrs::lt, rules::Kind::number>,
                        .flags = kNoGradient})

}  // namespace horngate
