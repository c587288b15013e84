// A node of a loop's body, computed for all steps at once: operands that change from step to step come as arrays
// with an additional time axis; the others are the same in each step.
#pragma once

#include <optional>
#include <span>

#include "passes/rewriter.h"

namespace horngate {

inline constexpr int64_t kInvariant = -1;

/// The product of the dimensions before an axis.
int64_t elements_before(const Shape& shape, int64_t axis);

/// Where the time axis of the result would be, given that of each operand (kInvariant: none); empty if the
/// primitive has no such form. `in` and `out` are the types in one step.
std::optional<int64_t> stacked_axis(const GraphNode& node, std::span<const TensorType> in,
                                    const TensorType& out, std::span<const int64_t> axes);

/// Emits the stacked form of a node for which stacked_axis found a place. `operands` are values of r.
ValueId emit_stacked(Rewriter& r, const GraphNode& node, std::span<const TensorType> in,
                     const TensorType& out, std::span<const int64_t> axes,
                     std::span<const ValueId> operands, int64_t length);

/// The sum over all steps of a node for which sums_over_time says yes, as one product or reduction. Both
/// operands of a product must be stacked along the same axis.
bool sums_over_time(const GraphNode& node);
ValueId emit_sum_over_time(Rewriter& r, const GraphNode& node, int64_t axis,
                           std::span<const ValueId> operands);

}  // namespace horngate
