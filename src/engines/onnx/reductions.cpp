// Reductions, running sums and products, softmax.
#include <algorithm>
#include <limits>

#include "../common/long_sums.h"
#include "lower.h"

namespace horngate::onnx {
namespace {

using engines::kLongSum;

/// The sum along a long axis, which is kept with size 1: sums of about sqrt(n) elements, then the sum of
/// those.
Value long_sum(Builder& b, const Value& x, int64_t axis) {
  const auto at = static_cast<size_t>(axis);
  const int64_t n = x.dims[at].n;
  const int64_t part = engines::part_of_sum(n);
  Ints from(x.dims.size(), 0), to(x.dims.size(), kToEnd), by(x.dims.size(), 1);
  to[at] = n - n % part;
  const Value whole = b.slice(x, from, to, by);
  Dims apart = whole.dims;
  apart[at] = Dim(to[at] / part);
  apart.insert(apart.begin() + axis + 1, Dim(part));
  const Value sums = b.reduce("ReduceSum", b.reshape(whole, apart), {axis + 1}, false);
  const Value sum = b.reduce("ReduceSum", sums, {axis}, true);
  if (n % part == 0) return sum;
  from[at] = to[at];
  to[at] = kToEnd;
  const Value rest = b.reduce("ReduceSum", b.slice(x, from, to, by), {axis}, true);
  return b.binary("Add", sum, rest);
}

}  // namespace

Value sum_along(Op& op, const Value& x, const Ints& axes, bool keepdims) {
  Builder& b = op.b;
  int64_t n = 1;
  for (int64_t a : axes) n *= std::max<int64_t>(x.dims[static_cast<size_t>(a)].n, 1);
  if (!is_float(x.dtype) || !op.lowering.is_exact() || !is_static(x.dims) || n < kLongSum)
    return b.reduce("ReduceSum", x, axes, keepdims);
  // The last axis first, which leaves the least; each separately, so that they are sums of sums.
  Value v = x;
  for (auto a = axes.rbegin(); a != axes.rend(); ++a) {
    const int64_t size = v.dims[static_cast<size_t>(*a)].n;
    if (size >= kLongSum)
      v = long_sum(b, v, *a);
    else if (size > 1)
      v = b.reduce("ReduceSum", v, {*a}, true);
  }
  if (keepdims) return v;
  Dims left;
  for (int64_t i = 0; i < v.rank(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end())
      left.push_back(v.dims[static_cast<size_t>(i)]);
  return b.reshape(v, left);
}

namespace {

constexpr char kReduceMax[] = "ReduceMax", kReduceMin[] = "ReduceMin", kArgMax[] = "ArgMax",
               kArgMin[] = "ArgMin", kSoftmax[] = "Softmax", kLogSoftmax[] = "LogSoftmax";

/// The result of reducing nothing.
bool reduced_nothing(Op& op, double value) {
  if (!is_empty(op.in[0])) return false;
  op.set(0, op.b.full(op.type(0).dtype, op.dims(0), value));
  return true;
}

void reduce(Op& op, const char* name, const Value& x) {
  op.set(0, op.b.reduce(name, x, op.ints("axes"), op.number("keepdims") != 0));
}

void reduce_sum(Op& op) {
  if (reduced_nothing(op, 0)) return;
  op.set(0, sum_along(op, as_signed(op, 0), op.ints("axes"), op.number("keepdims") != 0));
}
void reduce_prod(Op& op) {
  if (!reduced_nothing(op, 1)) reduce(op, "ReduceProd", as_signed(op, 0));
}

// The runtime ignores NaN.
template <const char* op_name, int sign>
void extreme(Op& op) {
  Builder& b = op.b;
  const Value x = as_ordered(op, 0);
  const Ints axes = op.ints("axes");
  const bool keepdims = op.number("keepdims") != 0;
  if (is_empty(x)) {
    if (!is_float(x.dtype))
      throw Unsupported("x has no elements, and integers have no infinity to give");
    return op.set(0, b.full(x.dtype, op.dims(0), -sign * std::numeric_limits<double>::infinity()));
  }
  Value y = b.reduce(op_name, x, axes, keepdims);
  if (op.in[0].dtype == HG_UINT64)
    y = b.binary("Add", y, b.scalar(HG_INT64, static_cast<double>(INT64_MIN)));
  if (!is_float(x.dtype) || !op.lowering.is_exact()) return op.set(0, y);
  const Value nan = b.cast(b.one("IsNaN", {x}, HG_BOOL, x.dims), HG_INT32);
  const Value any = b.cast(b.reduce("ReduceMax", nan, axes, keepdims), HG_BOOL);
  const Value none = b.scalar(x.dtype, std::numeric_limits<double>::quiet_NaN());
  op.set(0, b.where(any, none, y));
}

/// As sums, since those of nothing are 0: any asks whether some are true, all whether none is false.
void reduce_any(Op& op) {
  if (!reduced_nothing(op, 0)) reduce(op, "ReduceSum", op.b.cast(op.in[0], HG_INT64));
}
void reduce_all(Op& op) {
  if (reduced_nothing(op, 1)) return;
  const Value wrong = op.b.cast(op.b.unary("Not", op.in[0]), HG_INT64);
  const Value n = op.b.reduce("ReduceSum", wrong, op.ints("axes"), op.number("keepdims") != 0);
  op.set(0, op.b.compare("Equal", n, op.b.scalar(HG_INT64, 0)));
}

// The first NaN, else the first of the largest (or smallest).
template <const char* op_name>
void arg(Op& op) {
  Builder& b = op.b;
  const Value x = as_ordered(op, 0);
  const int64_t axis = op.number("axis");
  Dims dims = x.dims;
  dims.erase(dims.begin() + axis);
  const Attributes along = Attributes().number("axis", axis).number("keepdims", 0);
  const Value at = b.one(op_name, {x}, HG_INT64, dims, along);
  if (!is_float(x.dtype) || !op.lowering.is_exact()) return op.set(0, at);
  const Value nan = b.cast(b.one("IsNaN", {x}, HG_BOOL, x.dims), HG_INT32);
  const Value first = b.one("ArgMax", {nan}, HG_INT64, dims, along);
  const Value any = b.cast(b.reduce("ReduceMax", nan, {axis}, false), HG_BOOL);
  op.set(0, b.where(any, first, at));
}

void cumsum(Op& op) {
  const Value x = as_signed(op, 0);
  op.set(0, op.b.one("CumSum", {x, op.b.scalar(HG_INT64, static_cast<double>(op.number("axis")))},
                     x.dtype, x.dims,
                     Attributes()
                         .number("exclusive", op.number("exclusive"))
                         .number("reverse", op.number("reverse"))));
}

// There is no operator for it: a Scan carries the product along the first axis (why not along others: control.cpp).
void cumprod(Op& op) {
  Builder& b = op.b;
  const Value x = widened(op, 0);
  const int64_t axis = op.number("axis"), backwards = op.number("reverse");
  const Value first = b.move_axis(x, axis, 0);
  const Dims dims = b.dims(first), slice(dims.begin() + 1, dims.end());
  const Value start = b.full(x.dtype, slice, 1);
  b.begin_body();
  const Value before{b.unique("product"), x.dtype, slice},
      factor{b.unique("factor"), x.dtype, slice};
  const Value after = b.binary("Mul", before, factor);
  const Message body =
      b.end_body({before, factor}, {after, op.number("exclusive") ? before : after});
  const auto out = b.emit("Scan", {start.name, first.name}, 2,
                          Attributes()
                              .graph("body", body)
                              .number("num_scan_inputs", 1)
                              .ints("scan_input_directions", {backwards})
                              .ints("scan_output_directions", {backwards}));
  op.set(0, b.move_axis({out[1], x.dtype, first.dims}, 0, axis));
}

template <const char* op_name>
void softmax(Op& op) {
  const Value x = widened(op, 0);
  const int64_t axis = op.number("axis");
  if (op_name == kLogSoftmax && x.dtype == HG_FLOAT64 && op.lowering.is_exact()) {
    // The runtime's own version gives numbers for rows with NaN or infinity.
    const Value off = op.b.binary("Sub", x, op.b.reduce("ReduceMax", x, {axis}, true));
    const Value sum = op.b.reduce("ReduceSum", op.b.unary("Exp", off), {axis}, true);
    return op.set(0, op.b.binary("Sub", off, op.b.unary("Log", sum)));
  }
  op.set(0, op.b.one(op_name, {x}, x.dtype, x.dims, Attributes().number("axis", axis)));
}

}  // namespace

void add_reductions(Table& t) {
  t["reduce_sum"] = reduce_sum;
  t["reduce_prod"] = reduce_prod;
  t["reduce_max"] = extreme<kReduceMax, 1>;
  t["reduce_min"] = extreme<kReduceMin, -1>;
  t["reduce_any"] = reduce_any;
  t["reduce_all"] = reduce_all;
  t["argmax"] = arg<kArgMax>;
  t["argmin"] = arg<kArgMin>;
  t["cumsum"] = cumsum;
  t["cumprod"] = cumprod;
  t["softmax"] = softmax<kSoftmax>;
  t["log_softmax"] = softmax<kLogSoftmax>;
}

}  // namespace horngate::onnx
