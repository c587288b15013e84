// random_normal: normally distributed numbers, mean 0, deviation 1.
#include "prims/random.h"

namespace horngate {
HORNGATE_PRIMITIVE(random_normal, {.infer = rules::random_float<attrs::random_normal>,
                                   .flags = kRandom | kNoGradient})
}  // namespace horngate
