// What recurrences and running products share.
#pragma once

#include "prims/rules.h"

namespace horngate {

/// x moved by one along an axis: element i holds x_(i-1), the first 0; in reverse x_(i+1), the last 0.
Tensor element_before(const Tensor& x, int64_t axis, bool reverse);

}  // namespace horngate
