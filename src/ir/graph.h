// Graph: the dense form of a program that passes and engines work on. Values are numbers, nodes are in
// topological order; it holds no reference to the user's nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/name.h"
#include "ir/type.h"
#include "prims/attrs.h"

namespace horngate {

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = ~ValueId{0};

struct Graph;
using GraphRef = std::shared_ptr<const Graph>;

struct GraphNode {
  Prim prim;
  SmallVec<ValueId, 4> in;
  SmallVec<ValueId, 1> out;
  AttrRef attrs;
  SmallVec<GraphRef, 0> bodies;
  NodeName name;

  template <class A>
  const A& as() const {
    return attrs_as<A>(attrs.get());
  }
};

struct Graph {
  std::vector<TensorType> values;  // type of each value
  std::vector<GraphNode> nodes;    // operands before users
  std::vector<ValueId> inputs;     // values that no node makes
  std::vector<ValueId> outputs;
  std::vector<uint32_t> in_place;  // pairs (output number, input number) that may share memory
  std::vector<uint32_t> stable;    // numbers of inputs that seldom change from run to run

  ValueId add_value(TensorType type) {
    values.push_back(std::move(type));
    return static_cast<ValueId>(values.size() - 1);
  }
};

/// Whether two graphs do the same under the same names, value by value.
bool same_graph(const Graph& a, const Graph& b);

/// Throws when an invariant is broken: order, indices, types that the shape rules do not give.
void verify(const Graph& graph, std::string_view after_pass);
std::string print_text(const Graph& graph);
std::string print_dot(const Graph& graph);

}  // namespace horngate
