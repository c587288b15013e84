// Windows that slide over the spatial axes.
#include "api/windows.h"

#include <algorithm>

#include "horngate/config.h"
#include "ir/checked.h"

namespace horngate {
namespace {

Tensor ints(int64_t n) { return prim::constant(Array::of<int64_t>({n})); }

void check_positive(const Windows& w, std::string_view argument, const Ints& values) {
  check(std::all_of(values.begin(), values.end(), [](int64_t v) { return v >= 1; }), w.function,
        argument, " must be at least 1; got ", values, ".");
  check(std::all_of(values.begin(), values.end(), [](int64_t v) { return v <= kMostStep; }),
        w.function, argument, " must be at most ", kMostStep, "; got ", values, ".");
}

}  // namespace

bool is_channels_first(std::optional<DataFormat> data_format) {
  return data_format.value_or(image_data_format()) == DataFormat::channels_first;
}

void check_windows(const Windows& w, const Tensor& x) {
  check(x.ndim() == w.rank() + 2, w.function, "x must have ", w.rank() + 2,
        " dimensions; got shape ", x.shape(), ".");
  check_positive(w, "strides", w.strides);
  check_positive(w, "dilation_rate", w.dilation);
  for (size_t i = 0; i < w.rank(); ++i)
    check(w.size[i] <= kMostBytes / w.dilation[i], w.function, "windows of ", w.size[i],
          " taps with dilation ", w.dilation[i], " are larger than any memory.");
  for (size_t i = 0; i < w.rank(); ++i) {
    const int64_t n = x.shape().dim(w.first_axis() + i);
    const int64_t least = w.padding == Padding::valid ? w.span(i) : 1;
    check(n < 0 || n >= least, w.function, "windows of ", w.span(i),
          " elements do not fit on axis ", w.first_axis() + i, " of x of shape ", x.shape(),
          " with padding \"", name_of(w.padding), "\".");
  }
}

// With n = (out - 1) * stride + r, 0 < r <= stride, the margins add up to max(span - r, 0).
Margin same_margin(const Windows& w, size_t i, int64_t n) {
  const int64_t s = w.strides[i];
  const int64_t r = s == 1 ? 1 : (n + s - 1) % s + 1;
  const int64_t total = std::max<int64_t>(w.span(i) - r, 0);
  return {total / 2, total - total / 2};
}

bool has_fixed_margin(const Windows& w, size_t i, int64_t n) {
  return n >= 0 || w.padding != Padding::same || w.strides[i] == 1 || w.span(i) == 1;
}

Tensor low_margin(const Windows& w, size_t i, const Tensor& n) {
  const Tensor r_less_1 = prim::mod(prim::shift(n, -1), ints(w.strides[i]));
  const Tensor total = prim::maximum(prim::sub(ints(w.span(i) - 1), r_less_1), ints(0));
  return prim::floordiv(total, ints(2));
}

Tensor cut_axes(const Tensor& x, const std::vector<Cut>& cuts) {
  const size_t rank = x.ndim();
  attrs::slice a{.starts = Ints(rank, 0), .stops = Ints(rank, kToEnd), .steps = Ints(rank, 1)};
  Tensors starts, stops;
  bool any = false;
  for (size_t i = 0; i < rank; ++i) {
    starts.push_back(ints(0));
    stops.push_back(ints(kToEnd));
    if (!cuts[i].cut) continue;
    any = true;
    a.starts[i] = a.stops[i] = kFromOperand;
    starts.back() = cuts[i].start;
    // A negative stop would count from the end.
    stops.back() = prim::maximum(prim::add(cuts[i].start, cuts[i].size), ints(0));
  }
  if (!any) return x;
  return emit(std::move(a), {x, prim::concat(starts, 0), prim::concat(stops, 0)});
}

// If the margin depends on a size known only at run time, x is padded for the worst case, and a
// slice cuts off the excess at either end; its bounds are arithmetic on the shape of x, which
// planning turns into numbers. The window primitive then adds no padding on that axis.
Padded pad_windows(const Windows& w, const Tensor& x, double value) {
  const size_t rank = x.ndim(), first = w.first_axis();
  Padded p{x, Ints(w.rank(), 0), Ints(w.rank(), 0), false};
  Ints low(rank, 0), high(rank, 0);
  std::vector<Cut> cuts(rank);
  for (size_t i = 0; i < w.rank(); ++i) {
    const int64_t n = x.shape().dim(first + i);
    if (w.padding == Padding::causal) p.low[i] = w.span(i) - 1;
    if (w.padding != Padding::same) continue;
    if (has_fixed_margin(w, i, n)) {
      const Margin m = same_margin(w, i, n < 0 ? 1 : n);
      p.low[i] = m.low;
      p.high[i] = m.high;
      continue;
    }
    p.cut = true;
    low[first + i] = (w.span(i) - 1) / 2;
    high[first + i] = w.span(i) - 1 - low[first + i];
    const Tensor size = dim_of(x, first + i).as_tensor();
    const Tensor r_less_1 = prim::mod(prim::shift(size, -1), ints(w.strides[i]));
    cuts[first + i] = {true, prim::sub(ints(low[first + i]), low_margin(w, i, size)),
                       prim::shift(prim::sub(size, r_less_1), w.span(i) - 1)};
  }
  if (p.cut) p.x = cut_axes(prim::pad(x, low, high, value), cuts);
  return p;
}

}  // namespace horngate
