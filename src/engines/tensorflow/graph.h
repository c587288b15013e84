// Graph: a TensorFlow graph that is being built, and the operations that lowerings are made of.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node.h"

namespace horngate::tf {

/// A value in a TensorFlow graph.
struct Value {
  COutput out{};
  Type type = kNoType;
  Dims dims;

  size_t rank() const { return dims.size(); }
};
using Values = std::vector<Value>;

/// `wanted` when TensorFlow has a CPU kernel of the operation for it, else a type that it has one for and that
/// holds all values; kNoType when there is none. `attr` names the operation's type attribute.
Type kernel_type(const char* op, Type wanted, const char* attr = "T");
inline bool has_kernel(const char* op, Type type, const char* attr = "T") {
  return kernel_type(op, type, attr) == type;
}

inline bool is_float(Type t) { return t == kFloat || t == kDouble || t == kHalf || t == kBfloat16; }
inline bool is_half(Type t) { return t == kHalf || t == kBfloat16; }
/// In which sums and products of a type are computed: halves in float32.
inline Type wide_type(Type t) { return is_half(t) ? kFloat : t; }

/// What a message about an index needs to know of its operation.
struct Site {
  std::string prim;
  int64_t axis;
  std::string node;  // the user's name for it, or nothing
};

/// Work (multiplications, or so) between two looks at the stop: some milliseconds.
inline constexpr double kMuchWork = 1e8;
/// Whether a sum over axes is a long one that can be made in parts.
bool is_long_sum(const Dims& dims, const Dims& axes);

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;

  /// One operation: attributes and inputs by chained calls, then value() or finish().
  class Op {
   public:
    Op(Graph& graph, const char* type, const std::string& name);
    Op& in(const Value& v);
    Op& list(const Values& vs);
    Op& type(const char* key, Type v);
    Op& types(const char* key, const Values& vs);
    Op& shape(const char* key, const Dims& v);
    Op& number(const char* key, int64_t v);
    Op& numbers(const char* key, const Dims& v);
    Op& flag(const char* key, bool v);
    Op& real(const char* key, double v);
    Op& text(const char* key, const std::string& v);
    Op& function(const char* key, const std::string& name);
    Op& after(COperation* op);
    COperation* finish();
    Value value(Type type, Dims dims);

   private:
    friend class Graph;
    Graph& graph_;
    CDescription* description_;
    const char* op_;
  };
  Op op(const char* type);
  /// One whose name in TensorFlow's messages leads to its site.
  Op op_at(const char* type, Site site);
  const Site* site_in(const std::string& message) const;

  CGraphT* get() const { return graph_; }
  /// What the graph and a session over it keep, about, as measured on nets of many sizes.
  size_t bytes() const { return (120 << 10) + next_ * (7 << 10) + 3 * constant_bytes_; }

  Value placeholder(Type type, const Dims& dims);
  Value constant(Type type, const Dims& dims, const void* data);
  Value zeros(Type type, const Dims& dims);
  Value scalar(Type type, double v);
  /// A 1-D constant of int32 (what most operations take) or int64.
  Value ints(const Dims& v, Type type = kInt32);
  Value integer(int64_t v, Type type = kInt32);

  /// The same where the first of the numbers may be open: then it is the first size of `like`.
  Value sizes(const Dims& v, const Value& like);

  Value identity(const Value& x);
  Value cast(const Value& x, Type type);
  /// One and two operands of one type, through a type that has a kernel. NumPy broadcasting.
  Value unary(const char* op, const Value& x);
  Value binary(const char* op, const Value& a, const Value& b);
  Value compare(const char* op, const Value& a, const Value& b);
  Value select(const Value& condition, const Value& a, const Value& b);
  /// A reduction over axes.
  Value reduce(const char* op, const Value& x, const Dims& axes, bool keepdims);
  /// The sum over axes, in order, of floats in parts: TensorFlow adds one row after the other, and so loses digits.
  Value sum(const Value& x, const Dims& axes, bool keepdims);

  /// One of the sizes may be open.
  Value reshape(const Value& x, const Dims& dims);
  Value broadcast(const Value& x, const Dims& dims);
  /// The same to a shape that the run knows (1-D, int64).
  Value reshape(const Value& x, const Value& shape, const Dims& dims);
  Value broadcast(const Value& x, const Value& shape, const Dims& dims);
  Value transpose(const Value& x, const Dims& perm);
  Value concat(const Values& parts, int64_t axis);
  /// `counts` elements along each axis from `starts`, every `steps`-th; an open count takes all from there.
  Value slice(const Value& x, const Dims& starts, const Dims& counts, const Dims& steps);
  Value pad(const Value& x, const Dims& low, const Dims& high, const Value& value);
  /// Entry `index` (a scalar) along axis 0, which goes.
  Value entry(const Value& x, const Value& index);

  /// Lets runs be stopped: a number that the caller may set while the graph runs, read where much has been done.
  void use_stop(const Value& stop) { stop_ = stop; }
  const Value& stop() const { return stop_; }  // without a type when there is none
  bool has_stop() const { return stop_.type != kNoType; }
  /// A 1, or an error that ends the run.
  Value one_unless_stopped();
  /// Around the operations of work that costs so much (multiplications, or so). Now and then the stop is read behind
  /// it; large work waits for the last look, since TensorFlow goes on with what does not depend on an error.
  void begin_work(double cost);
  void end_work(double cost, const Value& result);
  const std::vector<COperation*>& checks() const { return checks_; }

  /// A function made of this graph; the names of TensorFlow's functions must be unique in a graph.
  CFunction* to_function(const std::string& name, const Values& in, const Values& out) const;
  /// Takes over a function of another graph, and the functions that it calls.
  void add_function(CFunction* function, const Graph& body);

 private:
  Value long_sum(const Value& x, size_t axis);

  CGraphT* graph_;
  int next_ = 0;
  size_t constant_bytes_ = 0;
  std::map<std::string, Value> small_constants_;
  std::vector<std::shared_ptr<CFunction>> functions_;
  Value stop_;
  double cost_ = 0;
  bool waits_ = false;  // operations that are being added wait for the last check
  std::vector<COperation*> checks_;
  std::map<std::string, Site> sites_;  // by the operation's name; those of bodies too
};

Dims broadcast_dims(const Dims& a, const Dims& b);
/// A name that no function of this process has had.
std::string fresh_name(const char* what);

}  // namespace horngate::tf
