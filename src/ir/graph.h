// Graph: the dense form of a program that passes and engines work on. Values are numbers, nodes are in
// topological order; it holds no reference to the user's nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/attrs.h"
#include "ir/name.h"
#include "ir/number_table.h"
#include "ir/type.h"

namespace horngate {

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = ~ValueId{0};

struct Graph;
using GraphRef = std::shared_ptr<const Graph>;

/// The type of each value. A graph has few different types, so each is stored once.
class ValueTypes {
 public:
  const TensorType& operator[](size_t v) const { return types_[which_[v]]; }
  size_t size() const { return which_.size(); }
  bool empty() const { return which_.empty(); }
  void reserve(size_t n) { which_.reserve(n); }
  void push_back(TensorType type) { which_.push_back(number_of(std::move(type))); }
  void set(size_t v, TensorType type) { which_[v] = number_of(std::move(type)); }

  class Iterator {
   public:
    Iterator(const ValueTypes& all, size_t at) : all_(all), at_(at) {}
    const TensorType& operator*() const { return all_[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const ValueTypes& all_;
    size_t at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }
  friend bool operator==(const ValueTypes& a, const ValueTypes& b);

 private:
  uint32_t number_of(TensorType type);

  std::vector<uint32_t> which_;
  std::vector<TensorType> types_;
  NumberTable table_;  // of the types
};

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
  ValueTypes values;             // type of each value
  std::vector<GraphNode> nodes;  // operands before users
  std::vector<ValueId> inputs;   // values that no node makes
  std::vector<ValueId> outputs;
  std::vector<uint32_t> in_place;  // pairs (output number, input number) that may share memory
  std::vector<uint32_t> stable;    // numbers of inputs that seldom change between runs

  ValueId add_value(TensorType type) {
    values.push_back(std::move(type));
    return static_cast<ValueId>(values.size() - 1);
  }
};

/// Whether two graphs do the same under the same names, value by value.
bool same_graph(const Graph& a, const Graph& b);

/// Throws when an invariant is broken: order, indices, types that contradict the shape rules.
void verify(const Graph& graph, std::string_view after_pass);
std::string print_text(const Graph& graph);
std::string print_dot(const Graph& graph);

}  // namespace horngate
