// Lowerings: how each primitive becomes TensorFlow operations.
#pragma once

#include <span>

#include "graph.h"

namespace horngate::tf {

/// A node while it is being lowered.
struct LowerCall {
  Graph& graph;
  Node node;
  Values in;
  Values out;  // the lowering fills it

  Type out_type(uint32_t i = 0) const { return type_of(node.out_type(i).dtype); }
  void give(Value v) { out.push_back(std::move(v)); }
};

struct Lowering {
  const char* prim;
  void (*lower)(LowerCall&);
  /// Whether it can take that node; null: always.
  bool (*can)(const Node&) = nullptr;
};

/// The engine's lowering of a primitive, or null.
const Lowering* find_lowering(const char* prim);
/// Whether the engine can run a node: it has a lowering that takes it, and the same holds for all nodes
/// of its bodies.
bool can_lower(const hg_graph& graph, const hg_node& node);
/// The cost of a node, or of all nodes of a graph, roughly in multiplications.
double cost_of(const hg_graph& graph, const hg_node& node);
double cost_of(const hg_graph& graph);
/// Adds all nodes of a graph whose inputs are given; returns its outputs.
Values lower_graph(Graph& to, const hg_graph& graph, const Values& inputs);

// The groups of the table, one file each.
using Lowerings = std::span<const Lowering>;
Lowerings elementwise_lowerings();
Lowerings reduction_lowerings();
Lowerings shape_lowerings();
Lowerings product_lowerings();
Lowerings conv_lowerings();
Lowerings pool_lowerings();
Lowerings norm_lowerings();
Lowerings control_lowerings();

}  // namespace horngate::tf
