// What a step has to do, for profiles.
#pragma once

#include "ir/graph.h"
#include "ir/profile.h"

namespace horngate::native {

/// Arithmetic of one node (a multiply-add counts twice, an element-wise operation once per element), and the bytes
/// of its operands and results. Nodes with bodies count nothing: their steps have bars of their own.
profile::Work work_of(const Graph& graph, const GraphNode& node);
double flops_of(const Graph& graph, const GraphNode& node);

/// What a compiled graph keeps, about.
size_t bytes_of(const Graph& graph);

}  // namespace horngate::native
