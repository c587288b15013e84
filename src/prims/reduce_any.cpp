// reduce_any: true where at least one element along the axes is.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(reduce_any, {.infer = rules::reduction<attrs::reduce_any, rules::Kind::boolean>,
                                .flags = kNoGradient})

}  // namespace horngate
