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

/// What start:stop:step takes of n elements, by Python's rules. All are numbers (or kToEnd).
struct SliceRange {
  int64_t start;
  int64_t count;
};
SliceRange slice_range(int64_t n, int64_t start, int64_t stop, int64_t step);

}  // namespace horngate
