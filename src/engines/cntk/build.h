// Building CNTK graphs: values with row-major shapes, and its operations on them.
#pragma once

#include <limits>
#include <map>

#include "cntk/library.h"

namespace horngate::cntk {

using Dims = std::vector<int64_t>;

int64_t count(const Dims& dims);

/// A value of the graph under construction. All shapes are numbers; there are no dynamic axes.
struct Val {
  Variable v;
  DataType type = DataType::kFloat;
  Dims dims;
  double low = -std::numeric_limits<double>::infinity();  // no element is less; there may be NaN
  bool never_zero = false;   // no element is 0 (nor so small as to count as 0)
  bool is_constant = false;  // known while building, and without NaN
  bool is_leaf = false;      // an input or constant, which no operation made
  size_t rank() const { return dims.size(); }
};

/// How a window moves over the spatial axes.
struct Window {
  Dims strides, low, high;  // low and high: padding
};

/// Memory of constants. The library refers to it, so it must live as long as the graph.
using Memory = std::vector<std::shared_ptr<unsigned char[]>>;

class Build {
 public:
  explicit Build(const Library& library) : l_(library) {}

  /// A value that is fed: its memory, which is ours, is filled before each run. The library would accept arguments
  /// of one type only, and copy them.
  Val input(DataType type, const Dims& dims, std::shared_ptr<unsigned char[]>& memory);
  /// A value that the caller of the library's evaluation passes as an argument.
  Val argument(DataType type, const Dims& dims);
  /// A constant of the elements data[0], ..
  Val constant(DataType type, const Dims& dims, const std::vector<double>& data);
  Val scalar(DataType type, double value);

  Val un(Un op, const Val& x);
  /// Broadcasts like NumPy; a number takes the type of the other operand.
  Val bin(Bin op, const Val& a, const Val& b);
  Val bin(Bin op, const Val& a, double b) { return bin(op, a, scalar(a.type, b)); }
  Val bin(Bin op, double a, const Val& b) { return bin(op, scalar(b.type, a), b); }
  Val add(const Val& a, const Val& b) { return bin(Bin::kPlus, a, b); }
  Val mul(const Val& a, const Val& b) { return bin(Bin::kTimes, a, b); }
  /// a where the condition is not 0, else b.
  Val select(const Val& condition, const Val& a, const Val& b);
  Val cast(const Val& x, DataType type);

  Val reshape(const Val& x, const Dims& dims);
  Val transpose(const Val& x, const std::vector<int64_t>& perm);
  Val broadcast(const Val& x, const Dims& dims);
  /// Elements start, start + step, .. below stop of one axis; step > 0.
  Val slice(const Val& x, size_t axis, int64_t start, int64_t stop, int64_t step = 1);
  /// The same on several axes at once; whole axes cost nothing.
  Val slices(const Val& x, const Dims& starts, const Dims& stops, const Dims& steps);
  Val reverse(const Val& x, size_t axis);
  Val concat(const std::vector<Val>& parts, size_t axis);
  Val pad(const Val& x, const Dims& low, const Dims& high, double value);
  /// `op` is "Sum", "Max", "Min" or "Prod"; the axes stay with size 1.
  Val reduce(const wchar_t* op, const Val& x, const std::vector<int64_t>& axes);
  /// Position of the largest (or smallest) element; the axis stays with size 1.
  Val arg(bool largest, const Val& x, size_t axis);
  Val gather(const Val& indices, const Val& x);  // along axis 0
  Val one_hot(const Val& indices, int64_t n);    // a new last axis

  /// (m, k) by (k, n), or by (n, k) if b is transposed.
  Val product(const Val& a, const Val& b, bool b_transposed);
  Val batch_product(const Val& a, const Val& b);  // (b, m, k) by (b, k, n)

  /// x (n, c, spatial..), w (out, c / groups, spatial..).
  Val conv(const Val& x, const Val& w, const Window& by, int64_t groups);
  /// x (n, c, spatial..); padding does not count.
  Val pool(bool is_max, const Val& x, const Dims& window, const Window& by, const Dims& out);

  /// dy goes to the largest element of each window of x; the windows fill x without overlapping.
  Val unpool(const Val& dy, const Val& x, const Dims& window);

  FunctionPtr combine(const std::vector<Val>& outputs);
  const Library& library() const { return l_; }
  size_t size() const { return size_; }    // operations so far
  size_t bytes() const { return bytes_; }  // of the values they make, and of all that is fed
  Memory take_memory() { return std::move(memory_); }

 private:
  Val made(const FunctionPtr& function, DataType type, Dims dims);
  Axis axis(const Val& x, size_t row_major) const;
  Variable variable(VariableKind kind, DataType type, const Dims& dims, const ViewPtr& data);

  const Library& l_;
  Memory memory_;
  size_t size_ = 0, bytes_ = 0;
  std::map<std::pair<DataType, uint64_t>, Val> scalars_;
};

/// The most axes in the library's element-wise loops, after merging neighbours that repeat alike.
constexpr size_t kMostAxes = 5;
/// The operands' shapes with such neighbours merged; unchanged if there are few axes.
std::vector<Dims> merge_axes(const Dims& out, std::vector<Dims> operands);
NDShape reversed(const Dims& dims);
Dims broadcast_dims(const Dims& a, const Dims& b);
ViewPtr make_view(const Library& l, DataType type, const NDShape& shape, void* data, size_t bytes,
                  bool read_only);
ValuePtr make_value(const Library& l, const ViewPtr& view);
std::shared_ptr<unsigned char[]> aligned(size_t bytes);
inline size_t size_of(DataType type) { return type == DataType::kFloat ? 4 : 8; }

}  // namespace horngate::cntk
