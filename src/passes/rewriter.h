// Rewriter: builds a graph node by node, merging equal nodes and applying local simplifications. Passes walk the
// old graph and emit into a rewriter.
#pragma once

#include <string>

#include "ir/graph.h"
#include "ir/number_table.h"
#include "ir/primitive.h"
#include "ir/switches.h"

namespace horngate {

class Rewriter {
 public:
  Graph graph;

  /// Reserves room for about as much as `like` has.
  void reserve(const Graph& like);
  /// Returns the finished graph; nothing else is kept.
  Graph finish(std::vector<ValueId> outputs);
  ValueId input(const TensorType& type);
  /// Emits a node whose results have these types. Equal nodes become one; identities vanish. The resulting ids
  /// may be those of existing values.
  SmallVec<ValueId, 1> emit(GraphNode node, const Types& types);
  /// The same for one result, types inferred.
  ValueId emit(Prim prim, SmallVec<ValueId, 4> in, AttrRef attrs = {});
  template <class A>
  ValueId emit(A a, SmallVec<ValueId, 4> in) {
    return emit(A::kPrim, std::move(in), AttrRef(new AttrsOf<A>(std::move(a))));
  }
  /// Emits a node of another graph unchanged: `now` maps that graph's values to ours and receives the results.
  void copy(const Graph& from, const GraphNode& node, std::vector<ValueId>& now);
  ValueId constant(const Array& value);
  /// A constant that is never merged with an equal one.
  ValueId own_constant(const Array& value);
  const TensorType& type(ValueId v) const { return graph.values[v]; }
  /// The node that makes v, or nullptr for inputs.
  const GraphNode* maker(ValueId v) const;
  /// The value of a scalar constant (broadcast or not).
  bool scalar_constant(ValueId v, double* value) const;
  Types infer(const GraphNode& node) const;

 private:
  /// The value that replaces the node's result, or kNoValue. May rewrite the node.
  ValueId simplify(GraphNode& node, const Types& types);
  ValueId repeated_scalar(ValueId v) const;
  ValueId add_paddings(const GraphNode& node);
  ValueId simplify_concat(GraphNode& node, const TensorType& out);
  ValueId slice_of_concat(const GraphNode& node, const TensorType& out);

  const bool simplifies_ = is_on(Pass::simplify), merges_ = is_on(Pass::cse);
  std::vector<int32_t> maker_;  // per value: index of its node, -1 for inputs
  NumberTable by_hash_;
  ValueId ends_of_ = kNoValue;  // the last concat that was sliced
  std::vector<int64_t> ends_;   // where its parts end, along its axis
};

uint64_t hash_attrs(Prim prim, const Attrs* attrs);

}  // namespace horngate
