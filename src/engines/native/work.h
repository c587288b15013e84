// The work of a step, for profiles.
#pragma once

#include "ir/graph.h"
#include "ir/profile.h"

namespace horngate::native {

/// Arithmetic of one node (a multiply-add counts as two, an element-wise operation as one per element), and the
/// bytes of its operands and results. Nodes with bodies count nothing: their steps have their own bars.
profile::Work work_of(const Graph& graph, const GraphNode& node);
double flops_of(const Graph& graph, const GraphNode& node);

/// The approximate size of a compiled graph.
size_t bytes_of(const Graph& graph);

}  // namespace horngate::native
