#include "passes/slices.h"

#include "ir/fold_ints.h"
#include "prims/rules.h"

namespace horngate {

std::optional<AxisRange> axis_range(const GraphNode& n, const Shape& from) {
  if (n.prim != Prim::slice || n.in.size() != 1 || !from.is_static()) return std::nullopt;
  const auto& a = n.as<attrs::slice>();
  std::optional<AxisRange> range;
  for (size_t i = 0; i < from.ndim(); ++i) {
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    if (step != 1) return std::nullopt;
    const SliceRange s = slice_range(from.dim(i), a.starts[i], a.stops[i], step);
    if (s.count == from.dim(i)) continue;
    if (range) return std::nullopt;
    range = {i, s.start, s.start + s.count};
  }
  return range;
}

attrs::slice slice_along(size_t rank, const AxisRange& range) {
  attrs::slice a{.starts = Ints(rank, 0), .stops = Ints(rank, kToEnd), .steps = Ints(rank, 1)};
  a.starts[range.axis] = range.start;
  a.stops[range.axis] = range.stop;
  return a;
}

}  // namespace horngate
