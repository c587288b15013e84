// random_truncated_normal: normally distributed numbers, mean 0, deviation 1, none beyond -2 or 2.
#include "prims/random.h"

namespace horngate {
HORNGATE_PRIMITIVE(random_truncated_normal,
                   {.infer = rules::random_float<attrs::random_truncated_normal>,
                    .flags = kRandom | kNoGradient})
}  // namespace horngate
