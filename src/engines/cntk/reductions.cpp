// Sums, extremes and running sums along axes.
#include "cntk/lower.h"

namespace horngate::cntk {
namespace {

Dims axes_of(const LowerCall& c) { return c.attrs.ints("axes"); }

/// A reduced value in the primitive's shape: without the axes unless keepdims.
Val finished(const LowerCall& c, const Val& y) { return c.b.reshape(y, c.out_dims()); }

Val sum(const LowerCall& c) {
  Val x = c.in(0);
  const double low = x.low;
  if (bits_of(c.dtype()) == 8) x = c.b.cast(x, DataType::kDouble);
  Val y = wrapped(c.b, c.b.reduce(L"Sum", x, axes_of(c)), c.dtype());
  y = finished(c, c.b.cast(y, carrier(c.out_dtype())));
  if (low >= 0) y.low = 0;
  return y;
}

Val product(const LowerCall& c) {
  Val x = c.in(0);
  if (bits_of(c.dtype()) == 8) x = c.b.cast(x, DataType::kDouble);
  const Val y = wrapped(c.b, c.b.reduce(L"Prod", x, axes_of(c)), c.dtype());
  return finished(c, c.b.cast(y, carrier(c.out_dtype())));
}

// The library loses NaN; a second reduction finds it.
Val extreme(const LowerCall& c, bool largest) {
  Build& b = c.b;
  const Val& x = c.in(0);
  const wchar_t* op = largest ? L"Max" : L"Min";
  Val y = b.reduce(op, x, axes_of(c));
  if (is_float(c.dtype()) && y.dims != x.dims) {
    const Val is_nan = b.reduce(L"Max", b.bin(Bin::kNotEqual, x, x), axes_of(c));
    y = b.select(is_nan, b.scalar(x.type, std::numeric_limits<double>::quiet_NaN()), y);
  }
  y = finished(c, y);
  y.low = x.low;
  return y;
}

Val logical(const LowerCall& c, const wchar_t* op) {
  Val y = finished(c, c.b.reduce(op, c.in(0), axes_of(c)));
  y.low = 0;
  return y;
}

// The first NaN, if there is one. For an axis that is all -inf (all inf for argmin) the library finds nothing:
// -1.
Val position(const LowerCall& c, bool largest) {
  Build& b = c.b;
  const auto axis = static_cast<size_t>(c.attrs.number("axis"));
  // (before, n, after): the library takes few axes at a time.
  const Dims& dims = c.in(0).dims;
  const auto at = dims.begin() + static_cast<int64_t>(axis);
  const Dims three{count(Dims(dims.begin(), at)), *at, count(Dims(at + 1, dims.end()))};
  const Val x = b.reshape(c.in(0), three);
  Val y = b.arg(largest, x, 1);
  if (is_float(c.dtype())) {
    const Val is_nan = b.bin(Bin::kNotEqual, x, x);
    y = b.select(b.reduce(L"Max", is_nan, {1}), b.arg(true, is_nan, 1),
                 b.bin(Bin::kMax, b.scalar(y.type, 0), y));
  }
  y = b.reshape(b.cast(y, carrier(c.out_dtype())), c.out_dims());
  y.low = 0;
  return y;
}

// y += y shifted by 1, 2, 4, .. : in the end every element has met all before it.
Val cumulate(const LowerCall& c, Bin op) {
  Build& b = c.b;
  const auto axis = static_cast<size_t>(c.attrs.number("axis"));
  const bool exclusive = c.attrs.number("exclusive"), reverse = c.attrs.number("reverse");
  const double neutral = op == Bin::kPlus ? 0 : 1;
  const Dims shape = c.in(0).dims;
  const auto at = shape.begin() + static_cast<int64_t>(axis);
  const int64_t n = *at;
  Val y = b.reshape(c.in(0), {count(Dims(shape.begin(), at)), n, count(Dims(at + 1, shape.end()))});
  const auto shifted = [&](const Val& v, int64_t by) {
    const Val kept = reverse ? b.slice(v, 1, by, n) : b.slice(v, 1, 0, n - by);
    return b.pad(kept, {0, reverse ? 0 : by, 0}, {0, reverse ? by : 0, 0}, neutral);
  };
  if (exclusive) {
    if (n == 1)
      return b.constant(y.type, shape,
                        std::vector<double>(static_cast<size_t>(count(shape)), neutral));
    y = shifted(y, 1);
  }
  for (int64_t by = 1; by < n; by *= 2) y = b.bin(op, y, shifted(y, by));
  return wrapped(b, b.reshape(y, shape), c.dtype());
}

}  // namespace

void add_reductions(Table& t) {
  t["reduce_sum"] = {sum, {}, {}};
  t["reduce_prod"] = {product, {}, {}};
  t["reduce_max"] = {[](const LowerCall& c) { return extreme(c, true); }, {}, {}};
  t["reduce_min"] = {[](const LowerCall& c) { return extreme(c, false); }, {}, {}};
  t["reduce_any"] = {[](const LowerCall& c) { return logical(c, L"Max"); }, {}, {}};
  t["reduce_all"] = {[](const LowerCall& c) { return logical(c, L"Min"); }, {}, {}};
  t["argmax"] = {[](const LowerCall& c) { return position(c, true); }, {}, {}};
  t["argmin"] = {[](const LowerCall& c) { return position(c, false); }, {}, {}};
  t["cumsum"] = {[](const LowerCall& c) { return cumulate(c, Bin::kPlus); }, {}, {}};
  t["cumprod"] = {[](const LowerCall& c) { return cumulate(c, Bin::kTimes); }, {}, {}};
}

}  // namespace horngate::cntk
