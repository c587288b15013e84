// Fusion: which nodes run together as one step.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace horngate::native {

/// A step of a plan: one kernel node, or a group of element-wise nodes (and possibly one reduction at its end)
/// that share an iteration space.
struct StepNodes {
  std::vector<uint32_t> nodes;  // ascending; the last one is the root, at whose place the step runs
  bool fused = false;
  std::vector<uint32_t>
      unstored;  // nodes whose values no other step reads: those that want one compute it too
};

std::vector<StepNodes> fuse(const Graph& graph);

}  // namespace horngate::native
