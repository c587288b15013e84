// Rewriter: builds a graph node by node, merging equal nodes and applying local simplifications. Passes walk
// the old graph and emit into one.
#pragma once

#include <string>

#include "ir/graph.h"
#include "ir/switches.h"
#include "prims/primitive.h"

namespace horngate {

/// Numbers of nodes by a hash of what they do, in eight bytes each: graphs may have millions of nodes.
class NodeTable {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  void reserve(size_t nodes);
  void insert(uint64_t hash, uint32_t node);
  /// A node of that hash of which is_it(node) holds; kNone if there is none.
  template <class F>
  uint32_t find(uint64_t hash, const F& is_it) const {
    if (slots_.empty()) return kNone;
    const uint32_t mark = mark_of(hash);
    for (size_t i = place_of(mark); slots_[i].node != kNone; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].mark == mark && is_it(slots_[i].node)) return slots_[i].node;
    return kNone;
  }

 private:
  struct Slot {
    uint32_t mark = 0;  // half of the hash
    uint32_t node = kNone;
  };
  static uint32_t mark_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32 ^ hash); }
  size_t place_of(uint32_t mark) const { return (mark * 0x9e3779b97f4a7c15ull) >> shift_; }
  void resize(size_t slots);
  void put(Slot slot);

  std::vector<Slot> slots_;  // a power of two of them, at most three quarters used
  size_t used_ = 0;
  int shift_ = 64;
};

class Rewriter {
 public:
  Graph graph;

  /// Room for about as much as `like` has.
  void reserve(const Graph& like);
  /// The graph, at the end. Nothing else is kept.
  Graph finish(std::vector<ValueId> outputs);
  ValueId input(const TensorType& type);
  /// Emits a node whose results have these types. Equal nodes become one; identities vanish. The result ids
  /// may be those of values that exist already.
  SmallVec<ValueId, 1> emit(GraphNode node, const Types& types);
  /// The same for one result, types inferred.
  ValueId emit(Prim prim, SmallVec<ValueId, 4> in, AttrRef attrs = {});
  template <class A>
  ValueId emit(A a, SmallVec<ValueId, 4> in) {
    return emit(A::kPrim, std::move(in), AttrRef(new AttrsOf<A>(std::move(a))));
  }
  /// Emits a node of another graph as it is: `now` has the values that stand for its operands and gets those that
  /// stand for its results.
  void copy(const Graph& from, const GraphNode& node, std::vector<ValueId>& now);
  ValueId constant(const Array& value);
  /// One that is not merged with an equal one.
  ValueId own_constant(const Array& value);
  const TensorType& type(ValueId v) const { return graph.values[v]; }
  /// The node that makes v, or nullptr for inputs.
  const GraphNode* maker(ValueId v) const;
  /// The value of a scalar constant (broadcast or not).
  bool scalar_constant(ValueId v, double* value) const;
  Types infer(const GraphNode& node) const;

 private:
  /// The value that stands for the node's result, or kNoValue. May rewrite the node.
  ValueId simplify(GraphNode& node, const Types& types);
  ValueId repeated_scalar(ValueId v) const;
  ValueId add_paddings(const GraphNode& node);
  ValueId simplify_concat(GraphNode& node, const TensorType& out);
  ValueId slice_of_concat(const GraphNode& node, const TensorType& out);

  const bool simplifies_ = is_on(Pass::simplify), merges_ = is_on(Pass::cse);
  std::vector<int32_t> maker_;  // per value: index of its node, -1 for inputs
  NodeTable by_hash_;
  ValueId ends_of_ = kNoValue;  // the concat that was sliced last
  std::vector<int64_t> ends_;   // of its parts, along its axis
};

uint64_t hash_attrs(Prim prim, const Attrs* attrs);

}  // namespace horngate
