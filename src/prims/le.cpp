// le: a <= b, as bool.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(le, {.infer = rules::comparison<attrs::le, rules::Kind::number>,
                        .flags = kNoGradient})

}  // namespace horngate
