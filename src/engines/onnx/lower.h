// From graphs of primitives (the C form of engine.h) to ONNX. Shared by the engine and export_onnx: the engine's graphs
// are static, while the exporter's may have open dimensions (-1) and shapes that operands supply.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "builder.h"
#include "horngate/engine.h"

namespace horngate::onnx {

/// Entry of a `shape`, `starts` or `stops` attribute that an operand supplies (kFromOperand of the core).
inline constexpr int64_t kFromOperand = INT64_MIN;
/// Entry of slice's stops: to the end.
inline constexpr int64_t kToEnd = INT64_MAX;

/// Subtracted from negative indices, so that the runtime refuses them. A power of two, exact as a double.
inline constexpr double kIndexShift = 4611686018427387904.0;

class Lowering;

/// One node while it is lowered: operands, attributes, and where its results go.
struct Op {
  Builder& b;
  Lowering& lowering;
  const hg_graph& graph;
  const hg_node& node;
  std::vector<Value> in;
  std::vector<Value> out;

  const hg_attr* find(const char* key) const;
  Ints ints(const char* key) const;
  int64_t number(const char* key) const;
  double real(const char* key) const;
  std::string text(const char* key) const;
  const hg_type& type(size_t result) const { return *graph.value[node.out[result]]; }
  Dims dims(size_t result) const;
  /// Sets a result; casts it to the graph's dtype, and fills in open dimensions that the graph knows.
  void set(size_t result, Value v);
};

using Lower = void (*)(Op&);
using Table = std::unordered_map<std::string_view, Lower>;
void add_elementwise(Table& table);
void add_arithmetic(Table& table);
void add_reductions(Table& table);
void add_shapes(Table& table);
void add_indexing(Table& table);
void add_products(Table& table);
void add_convolutions(Table& table);
void add_pools(Table& table);
void add_normalization(Table& table);
void add_control(Table& table);

/// The dtype in which the runtime computes: halves in float32, small integers in int32, uint32 in int64. Results
/// are cast back, which rounds, or wraps around as the small type would have.
int32_t wide(int32_t dtype);
Value widened(Op& op, size_t operand);
/// The same with uint64 as int64: for operations that do not depend on the sign, such as sums.
Value as_signed(Op& op, size_t operand);
/// uint64 as int64 in the same order, by adding the smallest int64; everything else widened.
Value as_ordered(Op& op, size_t operand);
bool is_empty(const Value& v);
/// The sum along axes (in order); for floats in parts, because the runtime adds element by element and loses digits.
Value sum_along(Op& op, const Value& x, const Ints& axes, bool keepdims);
/// The attribute `shape`; entries left to the last operand are taken from it.
Dims target_shape(Op& op);

/// Where a node of the model comes from, for messages.
struct Site {
  std::string prim, name;
  int64_t axis = 0, size = 0;
};

/// What a model is for. To run: results equal those of native up to the last few bits, NaN included. To exchange: the
/// plain operator wherever there is one, as others expect.
enum class Aim { run, exchange };

class Lowering {
 public:
  Lowering(Builder& builder, Aim aim) : b_(builder), aim_(aim) {}
  bool is_exact() const { return aim_ == Aim::run; }
  /// Lowers all nodes. `inputs`: a value per input of the graph; returns one per output.
  std::vector<Value> graph(const hg_graph& graph, const std::vector<Value>& inputs);
  /// Throws Unsupported if the node cannot be lowered. For supports().
  static void check(const hg_graph& graph, uint32_t node, Aim aim);
  const std::vector<Site>& sites() const { return sites_; }
  /// Notes the size of the axis that the current node indexes.
  void note_size(int64_t size) { sites_.back().size = size; }

 private:
  void lower(const hg_graph& graph, const hg_node& node, std::vector<Value>& values);

  Builder& b_;
  const Aim aim_;
  std::vector<Site> sites_;
};

Value value_of(std::string name, const hg_type& type);

}  // namespace horngate::onnx
