// From primitives to CNTK operations: what each group's file adds to the table.
#pragma once

#include <functional>
#include <string_view>

#include "cntk/build.h"
#include "horngate/engine.h"

namespace horngate::cntk {

/// Attributes of a node by key.
class Attrs {
 public:
  explicit Attrs(const hg_node& node) : node_(node) {}
  int64_t number(const char* key) const { return ints(key).at(0); }
  Dims ints(const char* key) const;
  double real(const char* key) const;
  std::string text(const char* key) const;
  int32_t dtype(const char* key) const;
  const hg_buffer* buffer(const char* key) const;

 private:
  const hg_attr* find(const char* key) const;
  const hg_node& node_;
};

/// An index operand that must be checked in each run, before or after it.
struct IndexCheck {
  std::string primitive, node;  // node: the user's name for it, or empty
  int64_t axis, size;
  uint32_t input;          // position of the graph's input that holds the indices, or kComputed
  size_t least, greatest;  // positions among the hidden outputs, if they are computed
  static constexpr uint32_t kComputed = ~0u;
};

/// A graph on its way to CNTK.
struct Lowering {
  Build& b;
  const hg_graph& g;
  std::vector<Val> values;               // by number; without fields: not made yet
  std::vector<const hg_buffer*> consts;  // by number
  std::vector<uint32_t> input_of;        // by number: position among the inputs, or kComputed
  std::vector<Val> hidden;               // outputs for checks
  std::vector<IndexCheck> checks;
  double work = 0;  // multiplications of the largest product

  const Val& value(uint32_t number);
  const hg_type& type(uint32_t number) const { return *g.value[number]; }
  /// The numbers of a constant, or null.
  const hg_buffer* constant(uint32_t number) const { return consts[number]; }
};

struct LowerCall {
  Lowering& to;
  const hg_node& node;
  Attrs attrs;
  Build& b;
  const Val& in(uint32_t i) const { return to.value(node.in[i]); }
  int32_t dtype(uint32_t i = 0) const { return to.type(node.in[i]).dtype; }
  int32_t out_dtype(uint32_t i = 0) const { return to.type(node.out[i]).dtype; }
  Dims out_dims(uint32_t i = 0) const;
  void set(uint32_t i, Val v) const;
};

struct Entry {
  std::function<Val(const LowerCall&)> lower;                 // for primitives with one result
  std::function<bool(const hg_graph&, const hg_node&)> fits;  // empty: always
  std::function<void(const LowerCall&)> lower_all;            // for primitives with several
};
using Table = std::map<std::string_view, Entry>;

const Table& table();
void add_unary(Table&);
void add_binary(Table&);
void add_reductions(Table&);
void add_shapes(Table&);
void add_indices(Table&);
void add_products(Table&);
void add_convolutions(Table&);
void add_pools(Table&);
void add_networks(Table&);

/// Whether CNTK can run the node, as one operation or several.
bool supports(const hg_graph& g, const hg_node& n);

// dtypes and their carriers: float carries floats and small integers, double carries other integers.
bool is_float(int32_t dtype);
bool is_unsigned(int32_t dtype);
int bits_of(int32_t dtype);
size_t bytes_of(int32_t dtype);
DataType carrier(int32_t dtype);
Dims dims_of(const hg_type& type);
/// Elements of a buffer as doubles.
std::vector<double> numbers(const hg_buffer& buffer);
/// Integers after a sum or product: wraps them into the range of their dtype. Sums of int32 stay exact for long
/// and wrap only when they leave the graph, unless `all`.
Val wrapped(Build& b, const Val& x, int32_t dtype, bool all = false);

// Compositions that several files use.
Val divide(Build& b, const Val& a, const Val& c);
Val logarithm(Build& b, const Val& x);
Val square_root(Build& b, const Val& x);
Val maximum(Build& b, const Val& a, const Val& c, bool larger);
Val truncated(Build& b, const Val& x);
/// (n, spatial.., c) to (n, c, spatial..), unless it already has that form; and back.
Val channels_to_front(Build& b, const Val& x, bool is_there);
Val channels_to_back(Build& b, const Val& x, bool stays);
/// Each element of dy (n, spatial..) is added to all places of its window in a result (n, room..).
Val sum_of_windows(const LowerCall& c, const Val& dy, const Dims& room, const Dims& window,
                   const Window& by);
Val softmax(Build& b, const Val& x, size_t axis, bool logarithmic);

}  // namespace horngate::cntk
