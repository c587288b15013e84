// random_uniform: numbers in [0, 1), 24 bits of them random in float32, 53 in float64.
#include "prims/random.h"

namespace horngate {
HORNGATE_PRIMITIVE(random_uniform, {.infer = rules::random_float<attrs::random_uniform>,
                                    .flags = kRandom | kNoGradient})
}  // namespace horngate
