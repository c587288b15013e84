// eq: a == b, as bool.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(eq,
                   {.infer = rules::comparison<attrs::eq, rules::Kind::any>, .flags = kNoGradient})

}  // namespace horngate
