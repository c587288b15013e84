// What pool and pool_grad share.
#include "prims/pool_rules.h"

#include <cmath>
#include <limits>

namespace horngate::rules {
namespace {

/// Spreads y along one axis with zeros between: elements `step` apart, the first at `first`, n in
/// all.
Tensor spread(const PoolGeometry& g, const Tensor& x, const Tensor& y, size_t i, int64_t first) {
  const auto axis = static_cast<int64_t>(spatial_axis(g.channels_first) + i);
  const int64_t step = g.stride(i), rank = static_cast<int64_t>(y.ndim());
  if (step == 1) {
    Ints low(y.ndim(), 0), high(y.ndim(), 0);
    low[axis] = first;
    high[axis] = g.window[i] - 1 - first;
    return prim::pad(y, low, high);
  }
  const int64_t margin = g.pad_low(i) + g.pad_high(i), n = x.shape().dim(axis);
  SymShape count{{y.shape().dim(axis)}, {}};
  if (count.dims[0] < 0)
    count = {{kFromOperand}, prim::slice_axis(prim::shape_of(y), 0, axis, axis + 1)};
  const Tensor steps = prim::mul(prim::iota(count, DType::int64), prim::constant(Array(step)));
  const Tensor at = prim::add(steps, prim::constant(Array(first)));
  SymShape shape = prim::sym_shape(y);
  shape.dims[axis] = n < 0 ? kFromOperand : n + margin;
  shape.operand = {};
  if (from_operand(shape.dims)) {
    const Tensor length = prim::slice_axis(prim::shape_of(x), 0, axis, axis + 1);
    Tensors parts{prim::slice_axis(prim::shape_of(y), 0, 0, axis),
                  prim::add(length, prim::constant(Array(margin)))};
    if (axis + 1 < rank) parts.push_back(prim::slice_axis(prim::shape_of(y), 0, axis + 1, rank));
    shape.operand = prim::concat(parts, 0);
  }
  return prim::scatter_add(at, y, shape, axis);
}

}  // namespace

Shape pool_shape(const char* name, const PoolGeometry& g, const TensorType& x) {
  const size_t rank = x.shape.ndim(), axes = g.window.size();
  check(g.mode == "max" || g.mode == "avg", name, "mode must be \"max\" or \"avg\"; got \"", g.mode,
        "\".");
  check_kind(name, "x", x.dtype, g.is_max() ? Kind::number : Kind::floats);
  check(rank >= 3 && rank <= 5, name, "x must have 3, 4 or 5 dimensions; got shape ", x.shape, ".");
  check(axes == rank - 2, name, "window must have ", rank - 2, rank == 3 ? " entry" : " entries",
        ", one per spatial axis of x with shape ", x.shape, "; got ", g.window, ".");
  check_per_axis(name, "window", g.window, axes, 1);
  check_per_axis(name, "strides", g.strides, axes, 1);
  check_per_axis(name, "pad_low", g.low, axes, 0);
  check_per_axis(name, "pad_high", g.high, axes, 0);
  Shape y = x.shape;
  const size_t first = spatial_axis(g.channels_first);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t low = g.pad_low(i), high = g.pad_high(i), n = x.shape.dim(first + i);
    // Otherwise a window could hold only padding, which has neither maximum nor mean.
    check(low < g.window[i] && high < g.window[i], name, "padding must be smaller than the window ",
          g.window, "; got ", g.low, " and ", g.high, ".");
    int64_t& d = y.dims()[first + i];
    // For the same reason there are no windows over nothing.
    d = n == 0 ? 0 : window_count(n, g.window[i], g.stride(i), low, high);
  }
  return y;
}

void for_taps(const PoolGeometry& g, const std::function<void(const Ints& tap)>& f) {
  Ints tap(g.window.size(), 0);
  while (true) {
    f(tap);
    size_t i = tap.size();
    while (i > 0 && ++tap[i - 1] == g.window[i - 1]) tap[--i] = 0;
    if (i == 0) return;
  }
}

double lowest_of(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  if (is_unsigned_int(dtype)) return 0;
  return -std::ldexp(1.0, static_cast<int>(size_of(dtype) * 8 - 1));
}

Tensor pad_windows(const PoolGeometry& g, const Tensor& x, double value) {
  Ints low(x.ndim(), 0), high(x.ndim(), 0);
  const size_t first = spatial_axis(g.channels_first);
  for (size_t i = 0; i < g.window.size(); ++i) {
    low[first + i] = g.pad_low(i);
    high[first + i] = g.pad_high(i);
  }
  return prim::pad(x, low, high, value);
}

Tensor drop_padding(const PoolGeometry& g, const Tensor& padded) {
  Ints starts(padded.ndim(), 0), stops(padded.ndim(), kToEnd);
  const size_t first = spatial_axis(g.channels_first);
  for (size_t i = 0; i < g.window.size(); ++i) {
    starts[first + i] = g.pad_low(i);
    if (g.pad_high(i) > 0) stops[first + i] = -g.pad_high(i);
  }
  return prim::slice(padded, starts, stops);
}

Tensor take_tap(const PoolGeometry& g, const Tensor& padded, const Ints& tap) {
  Ints starts(padded.ndim(), 0), stops(padded.ndim(), kToEnd), steps(padded.ndim(), 1);
  const size_t first = spatial_axis(g.channels_first);
  for (size_t i = 0; i < tap.size(); ++i) {
    // Counted from the end, the stop is right for any size, even None, and the last window does not
    // stick out.
    const int64_t behind = g.window[i] - 1 - tap[i];
    starts[first + i] = tap[i];
    if (behind > 0) stops[first + i] = -behind;
    steps[first + i] = g.stride(i);
  }
  return prim::slice(padded, starts, stops, steps);
}

Tensor put_tap(const PoolGeometry& g, const Tensor& x, const Tensor& y, const Ints& tap) {
  Tensor r = y;
  for (size_t i = 0; i < tap.size(); ++i) r = spread(g, x, r, i, tap[i]);
  return r;
}

Tensor window_sizes(const PoolGeometry& g, const Tensor& x) {
  int64_t all = 1;
  bool padded = false;
  for (size_t i = 0; i < g.window.size(); ++i) {
    all *= g.window[i];
    padded = padded || g.pad_low(i) > 0 || g.pad_high(i) > 0;
  }
  if (!padded) return prim::scalar(static_cast<double>(all), x.dtype());
  // One image and one channel are enough.
  Tensor one = prim::slice_axis(x, 0, 0, 1);
  one = prim::slice_axis(one, static_cast<int64_t>(channel_axis(x.ndim(), g.channels_first)), 0, 1);
  const Tensor inside = pad_windows(g, prim::full_like(one, 1.0), 0.0);
  Tensor sum;
  for_taps(g, [&](const Ints& tap) {
    const Tensor part = take_tap(g, inside, tap);
    sum = sum.defined() ? prim::add(sum, part) : part;
  });
  return sum;
}

void for_first_maxima(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                      const std::function<void(const Ints& tap, const Tensor& here)>& f) {
  const Tensor padded = pad_windows(g, x, lowest_of(x.dtype()));
  Tensor open;  // true while no earlier place held the maximum
  for_taps(g, [&](const Ints& tap) {
    const Tensor equal = prim::eq(take_tap(g, padded, tap), y);
    f(tap, open.defined() ? prim::logical_and(equal, open) : equal);
    const Tensor other = prim::logical_not(equal);
    open = open.defined() ? prim::logical_and(open, other) : other;
  });
}

}  // namespace horngate::rules
