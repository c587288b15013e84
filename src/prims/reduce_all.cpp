// reduce_all: true where all elements along the axes are.
#include "prims/rules.h"

namespace horngate {

HORNGATE_PRIMITIVE(reduce_all, {.infer = rules::reduction<attrs::reduce_all, rules::Kind::boolean>,
                                .flags = kNoGradient})

}  // namespace horngate
