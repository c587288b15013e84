// Views: values without memory of their own. Slices that only fused groups read are read in place; what groups
// make only for a concat is written straight into its result. Then neither needs its own step.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "engines/native/fuse.h"
#include "engines/native/fused/geometry.h"

namespace horngate::native {

/// Nodes that read a value; UINT32_MAX stands for the graph's outputs.
using Consumers = SmallVec<uint32_t, 2>;
std::vector<Consumers> consumers_of(const Graph& graph);

Ints contiguous_strides(const Ints& dims);
/// How a value of shape `from` is read while iterating over `extent`: stride 0 where it repeats.
fused::Access broadcast_access(const Ints& from, const Ints& extent);
/// The same for a value that lies in another array.
fused::Access broadcast_view(const fused::Access& view, const Ints& from, const Ints& extent);

struct View {
  ValueId source = kNoValue;
  fused::Access access;
};

struct Views {
  std::unordered_map<ValueId, View>
      places;  // of slices, which are read there, and of parts, which are written there too
  std::unordered_set<ValueId>
      stepless;  // slices, and concats that are written by parts: no step of their own
  /// Where the value lies in another one's memory, or null.
  const View* find(ValueId v) const {
    const auto it = places.find(v);
    return it == places.end() ? nullptr : &it->second;
  }
  bool hides(ValueId v) const { return stepless.count(v) != 0; }
};
/// `maker`: per value the node that makes it, or -1.
Views find_views(const Graph& graph, const std::vector<StepNodes>& steps,
                 const std::vector<int32_t>& maker, const std::vector<Consumers>& consumers);

}  // namespace horngate::native
