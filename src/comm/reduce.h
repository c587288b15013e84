// Adding up what ranks sent, in one order.
#pragma once

#include <cstddef>

#include "horngate/dtype.h"

namespace horngate::comm {

enum class Reduction { sum, prod, min, max };

/// out[i] = from[0][i] op .. op from[n - 1][i], for n arrays of `count` elements. The order of the additions is the
/// binary tree over the ranks whose left part is the largest power of two: (0 + 1) + (2 + 3), ((0 + 1) + (2 + 3)) + 4.
/// So the bits depend on n alone, and a rank that adds up 2^k shards itself by such a tree is as good as 2^k ranks.
/// float16 and bfloat16 are added in float32 and rounded once. Integers wrap around; a bool is true if any (sum, max)
/// or all (prod, min) are. min and max are NaN where one is. `out` may be one of `from`.
void reduce(DType dtype, Reduction reduction, const void* const* from, size_t n, void* out,
            size_t count);

}  // namespace horngate::comm
