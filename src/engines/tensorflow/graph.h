// Graph: a TensorFlow graph under construction, and the operations that lowerings are made of.
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

/// `wanted` if TensorFlow has a CPU kernel of the operation for it, else a type with a kernel that holds all its
/// values; kNoType if there is none. `attr` names the operation's type attribute.
Type kernel_type(const char* op, Type wanted, const char* attr = "T");

inline bool is_float(Type t) { return t == kFloat || t == kDouble || t == kHalf || t == kBfloat16; }
inline bool is_half(Type t) { return t == kHalf || t == kBfloat16; }
/// The type in which sums and products are computed: float32 for halves.
inline Type wide_type(Type t) { return is_half(t) ? kFloat : t; }

/// What a message about an index needs to know about its operation.
struct Site {
  std::string prim;
  int64_t axis;
  std::string node;  // the user's name for it, or nothing
};

/// Work (roughly in multiplications) between two checks of the stop: a few milliseconds.
inline constexpr double kMuchWork = 1e8;
/// Whether a sum over axes is long and can be made in parts.
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
  /// An operation whose name in TensorFlow's messages leads to its site.
  Op op_at(const char* type, Site site);
  const Site* site_in(const std::string& message) const;

  CGraphT* get() const { return graph_; }
  /// The approximate size of the graph and its session, as measured on nets of many sizes.
  size_t bytes() const { return (120 << 10) + next_ * (7 << 10) + 3 * constant_bytes_; }

  Value placeholder(Type type, const Dims& dims);
  Value constant(Type type, const Dims& dims, const void* data);
  Value zeros(Type type, const Dims& dims);
  Value scalar(Type type, double v);
  /// A 1-D constant of int32 (which most operations take) or int64.
  Value ints(const Dims& v, Type type = kInt32);
  Value integer(int64_t v, Type type = kInt32);

  /// The same, but the first number may be open; then it is the first size of `like`.
  Value sizes(const Dims& v, const Value& like);

  Value identity(const Value& x);
  Value cast(const Value& x, Type type);
  /// Operations with one or two operands of one type, via a type that has a kernel. NumPy broadcasting.
  Value unary(const char* op, const Value& x);
  Value binary(const char* op, const Value& a, const Value& b);
  Value compare(const char* op, const Value& a, const Value& b);
  Value select(const Value& condition, const Value& a, const Value& b);
  /// A reduction over axes.
  Value reduce(const char* op, const Value& x, const Dims& axes, bool keepdims);
  /// The sum over axes, in order; for floats in parts, because TensorFlow adds row by row and loses digits.
  Value sum(const Value& x, const Dims& axes, bool keepdims);

  /// One size may be open.
  Value reshape(const Value& x, const Dims& dims);
  Value broadcast(const Value& x, const Dims& dims);
  /// The same for a shape known at run time (1-D, int64).
  Value reshape(const Value& x, const Value& shape, const Dims& dims);
  Value broadcast(const Value& x, const Value& shape, const Dims& dims);
  Value transpose(const Value& x, const Dims& perm);
  Value concat(const Values& parts, int64_t axis);
  /// `counts` elements along each axis from `starts`, every `steps`-th; an open count takes all from there on.
  Value slice(const Value& x, const Dims& starts, const Dims& counts, const Dims& steps);
  Value pad(const Value& x, const Dims& low, const Dims& high, const Value& value);
  /// Entry `index` (a scalar) along axis 0, which disappears.
  Value entry(const Value& x, const Value& index);

  /// Lets runs be stopped: `stop` is a number that the caller may set while the graph runs, read after much work.
  void use_stop(const Value& stop) { stop_ = stop; }
  const Value& stop() const { return stop_; }  // has no type if there is none
  bool has_stop() const { return stop_.type != kNoType; }
  /// 1, or an error that ends the run.
  Value one_unless_stopped();
  /// Put around operations of that cost (roughly in multiplications). From time to time the stop is read after them;
  /// large work waits for the last check, since TensorFlow goes on with whatever does not depend on an error.
  void begin_work(double cost);
  void end_work(double cost, const Value& result);
  const std::vector<COperation*>& checks() const { return checks_; }

  /// Makes a function from this graph; names of TensorFlow functions must be unique within a graph.
  CFunction* to_function(const std::string& name, const Values& in, const Values& out) const;
  /// Takes over a function of another graph, and the functions it calls.
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
  bool waits_ = false;  // new operations wait for the last check
  std::vector<COperation*> checks_;
  std::map<std::string, Site> sites_;  // by the operation's name; includes those of bodies
};

Dims broadcast_dims(const Dims& a, const Dims& b);
/// A name that no function in this process has had.
std::string fresh_name(const char* what);

}  // namespace horngate::tf
