// Arithmetic on shapes: evaluates integer primitives on 0-D and 1-D values with some entries unknown.
#pragma once

#include <span>

#include "ir/attrs.h"
#include "ir/type.h"

namespace horngate {

/// Computes the elements of a 0-D or 1-D integer value, kFromOperand where unknown.
/// Returns false when the primitive is not shape arithmetic or needs operand values that are absent
/// (null). shape_of needs only its operand's type.
bool fold_ints(Prim prim, const Attrs* attrs, std::span<const TensorType> types,
               std::span<const Ints* const> in, Ints* out);

/// Longer values are not worth folding.
inline constexpr int64_t kMaxFoldedInts = 64;

}  // namespace horngate
