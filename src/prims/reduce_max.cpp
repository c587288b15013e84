// reduce_max: the largest element along axes.
#include "prims/rules.h"

namespace horngate {

using A = attrs::reduce_max;

HORNGATE_PRIMITIVE(reduce_max, {.infer = rules::reduction<A, rules::Kind::number>,
                                .grad = rules::share_among_equals<A>})
}  // namespace horngate
