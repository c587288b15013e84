// Slices along one axis, as the passes make and recognise them.
#pragma once

#include <compare>
#include <optional>

#include "ir/graph.h"

namespace horngate {

struct AxisRange {
  size_t axis = 0;
  int64_t start = 0, stop = 0;
  auto operator<=>(const AxisRange&) const = default;
};

/// What a slice with step 1 takes from its operand, whose shape is `from`, if it cuts exactly one axis.
std::optional<AxisRange> axis_range(const GraphNode& node, const Shape& from);
/// That slice of an array of this rank.
attrs::slice slice_along(size_t rank, const AxisRange& range);

}  // namespace horngate
