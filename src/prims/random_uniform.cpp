// random_uniform: numbers in [0, 1), with 24 random bits in float32 and 53 in float64.
#include "prims/random.h"

namespace horngate {
HORNGATE_PRIMITIVE(random_uniform, {.infer = rules::random_float<attrs::random_uniform>,
                                    .flags = kRandom | kNoGradient})
}  // namespace horngate
