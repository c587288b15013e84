// ne: a != b, as bool.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(ne,
                   {.infer = rules::comparison<attrs::ne, rules::Kind::any>, .flags = kNoGradient})

}  // namespace horngate
