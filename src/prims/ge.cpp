// ge: a >= b, as bool.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(ge, {.infer = rules::comparison<attrs::ge, rules::Kind::number>,
                        .flags = kNoGradient})

}  // namespace horngate
