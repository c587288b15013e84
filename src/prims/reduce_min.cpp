// reduce_min: the smallest element along axes.
#include "prims/rules.h"

namespace horngate {

using A = attrs::reduce_min;

HORNGATE_PRIMITIVE(reduce_min, {.infer = rules::reduction<A, rules::Kind::number>,
                                .grad = rules::share_among_equals<A>})
}  // namespace horngate
