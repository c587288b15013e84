// argmin: int64 position of the smallest element along an axis; the first if several are equal; NaN
// wins.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(argmin, {.infer = rules::position<attrs::argmin>, .flags = kNoGradient})

}  // namespace horngate
