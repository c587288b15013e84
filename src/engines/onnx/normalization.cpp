// batch_norm and its gradient, built from means.
#include "lower.h"

namespace horngate::onnx {
namespace {

bool contains(const Ints& axes, size_t i) {
  for (int64_t a : axes)
    if (a == static_cast<int64_t>(i)) return true;
  return false;
}

/// A value over the other axes, with 1 where x is averaged.
Value spread(Op& op, const Value& v, const Value& x, const Ints& axes) {
  Dims dims;
  for (size_t i = 0, k = 0; i < x.dims.size(); ++i) {
    if (contains(axes, i))
      dims.push_back(1);
    else
      dims.push_back(op.b.dim(v, static_cast<int64_t>(k++)));
  }
  return op.b.reshape(op.b.cast(v, x.dtype), dims);
}

Value narrow(Op& op, const Value& v, const Ints& axes) {
  Dims dims;
  for (size_t i = 0; i < v.dims.size(); ++i)
    if (!contains(axes, i)) dims.push_back(op.b.dim(v, static_cast<int64_t>(i)));
  return op.b.reshape(v, dims);
}

void check_not_empty(const Value& x) {
  if (is_empty(x)) throw Unsupported("x has no elements");
}

/// 1 / sqrt(var + epsilon)
Value scale_of(Op& op, const Value& var) {
  const Value sum = op.b.binary("Add", var, op.b.scalar(var.dtype, op.real("epsilon")));
  return op.b.unary("Reciprocal", op.b.unary("Sqrt", sum));
}

/// The mean along axes, which are kept; computed as a sum, so that it is as exact as one.
Value mean_along(Op& op, const Value& x, const Ints& axes) {
  int64_t n = 1;
  for (int64_t a : axes) {
    const Dim& d = x.dims[static_cast<size_t>(a)];
    if (!d.known() || !op.lowering.is_exact()) return op.b.reduce("ReduceMean", x, axes, true);
    n *= d.n;
  }
  return op.b.binary("Div", sum_along(op, x, axes, true),
                     op.b.scalar(x.dtype, static_cast<double>(n)));
}

// y = (x - mean) r gamma + beta
void batch_norm(Op& op) {
  Builder& b = op.b;
  const Value x = widened(op, 0);
  check_not_empty(x);
  const Ints axes = op.ints("axes");
  const Value mean = mean_along(op, x, axes);
  const Value away = b.binary("Sub", x, mean);
  const Value var = mean_along(op, b.binary("Mul", away, away), axes);
  const Value factor = b.binary("Mul", scale_of(op, var), spread(op, op.in[1], x, axes));
  op.set(0, b.binary("Add", b.binary("Mul", away, factor), spread(op, op.in[2], x, axes)));
  op.set(1, narrow(op, mean, axes));
  op.set(2, narrow(op, var, axes));
}

// dbeta = s, dgamma = p r, dx = gamma r (dy - s / n - (x - mean) r^2 p / n) with s = sum(dy) and
// p = sum(dy (x - mean))
void batch_norm_grad(Op& op) {
  Builder& b = op.b;
  const Value x = widened(op, 0), dy = widened(op, 4);
  check_not_empty(x);
  const Ints axes = op.ints("axes");
  const Value away = b.binary("Sub", x, spread(op, op.in[2], x, axes));
  const Value r = scale_of(op, spread(op, op.in[3], x, axes));
  const Value dy_away = b.binary("Mul", dy, away);
  const Value pull = b.binary("Mul", b.binary("Mul", r, r), mean_along(op, dy_away, axes));
  const Value centred = b.binary("Sub", dy, mean_along(op, dy, axes));
  const Value inner = b.binary("Sub", centred, b.binary("Mul", away, pull));
  op.set(0, b.binary("Mul", inner, b.binary("Mul", r, spread(op, op.in[1], x, axes))));
  const Value p = sum_along(op, dy_away, axes, true);
  op.set(1, narrow(op, b.binary("Mul", p, r), axes));
  op.set(2, narrow(op, sum_along(op, dy, axes, true), axes));
}

}  // namespace

void add_normalization(Table& t) {
  t["batch_norm"] = batch_norm;
  t["batch_norm_grad"] = batch_norm_grad;
}

}  // namespace horngate::onnx
