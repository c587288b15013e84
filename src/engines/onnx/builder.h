// Builder: ONNX nodes one after another, with the types of the values between them.
#pragma once

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "horngate/engine.h"
#include "proto.h"

namespace horngate::onnx {

/// Thrown when a node cannot be written with the operators of ONNX; the text says why.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A dimension. Below 0: known only at run time; then `at` may name a value (int64, shape (1)) that holds it.
struct Dim {
  int64_t n = -1;
  std::string at;
  Dim(int64_t size) : n(size) {}
  explicit Dim(std::string where) : at(std::move(where)) {}
  bool known() const { return n >= 0; }
};
using Dims = std::vector<Dim>;

struct Value {
  std::string name;
  int32_t dtype = HG_FLOAT32;
  Dims dims;
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

bool is_static(const Dims& dims);
/// The numbers; Unsupported if one is open.
Ints numbers(const Dims& dims);
Dims dims_of(const Ints& dims);
int64_t count(const Dims& dims);
Ints permuted(const Ints& list, const Ints& perm);
bool is_float(int32_t dtype);

class Builder {
 public:
  // Names, and the inputs and outputs of a graph.
  std::string unique(std::string_view wish);
  /// The prefix of node names from now on, so that the runtime's messages can be traced back.
  void set_label(std::string label) { label_ = std::move(label); }

  // Constants belong to the outermost graph; bodies see them.
  Value constant(int32_t dtype, const Ints& dims, const void* data, std::string_view name = {});
  Value ints(const Ints& values);
  Value scalar(int32_t dtype, double value);
  /// An array of one value.
  Value full(int32_t dtype, const Dims& dims, double value);

  // Operators.
  std::vector<std::string> emit(std::string_view op, const std::vector<std::string>& in,
                                size_t n_out, const Attributes& attributes = {});
  Value one(std::string_view op, const std::vector<Value>& in, int32_t dtype, Dims dims,
            const Attributes& attributes = {});
  Value unary(std::string_view op, const Value& x) { return one(op, {x}, x.dtype, x.dims); }
  Value binary(std::string_view op, const Value& a, const Value& b,
               const Attributes& attributes = {});
  Value compare(std::string_view op, const Value& a, const Value& b);
  Value where(const Value& condition, const Value& a, const Value& b);
  /// The runtime may drop the first of two casts in a row: where that would change numbers, something is put in
  /// between.
  Value cast(const Value& x, int32_t dtype);
  Value reshape(const Value& x, const Dims& dims);
  Value transpose(const Value& x, const Ints& perm);
  /// x with one of its axes at another place; the others keep their order.
  Value move_axis(const Value& x, int64_t from, int64_t to);
  Value expand(const Value& x, const Dims& dims);
  /// One bound per axis; a stop beyond the end means the end.
  Value slice(const Value& x, const Ints& starts, const Ints& stops, const Ints& steps);
  /// Negative amounts cut.
  Value pad(const Value& x, const Ints& low, const Ints& high, double value);
  Value concat(const std::vector<Value>& parts, int64_t axis);
  Value reduce(std::string_view op, const Value& x, const Ints& axes, bool keepdims);

  // Dimensions at run time.
  Dim dim(const Value& x, int64_t axis);
  Dims dims(const Value& x);
  Dim product(const Dims& dims);
  /// A shape as an operand: 1-D int64.
  Value shape(const Dims& dims);

  /// Gives a value another name, for an output.
  void rename(const Value& x, const std::string& name);

  // Bodies of loops and branches.
  void begin_body();
  Message end_body(const std::vector<Value>& inputs, const std::vector<Value>& outputs);

  /// The whole graph; inputs and outputs are messages of make_value_info.
  Message graph(std::string_view name, const std::vector<Message>& inputs,
                const std::vector<Message>& outputs) const;
  size_t size() const { return size_; }  // nodes so far
  size_t constant_bytes() const { return initializers_.size(); }

 private:
  Dims broadcast(const Dims& a, const Dims& b) const;

  std::vector<std::string> scopes_{1};  // nodes of the graph and of the bodies being written
  std::string initializers_;
  std::map<std::string, Value> known_;        // small constants by what they hold
  std::map<std::string, int32_t> cast_from_;  // for what a Cast made: the dtype before it
  std::set<std::string, std::less<>> names_;
  uint64_t next_ = 0;
  size_t size_ = 0;
  std::string label_;
};

}  // namespace horngate::onnx
