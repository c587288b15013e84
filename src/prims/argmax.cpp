// argmax: int64 position of the largest element along an axis; the first if several are equal; NaN
// wins.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(argmax, {.infer = rules::position<attrs::argmax>, .flags = kNoGradient})

}  // namespace horngate
