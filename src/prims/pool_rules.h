// What pool and pool_grad share: the shape rule, and windows as slices for decompositions.
#pragma once

#include <functional>

#include "prims/conv_rules.h"

namespace horngate::rules {

struct PoolGeometry {
  Text mode;
  Ints window, strides, low, high;
  bool channels_first = false;
  bool is_max() const { return mode == "max"; }
  int64_t stride(size_t i) const { return strides.empty() ? 1 : strides[i]; }
  int64_t pad_low(size_t i) const { return low.empty() ? 0 : low[i]; }
  int64_t pad_high(size_t i) const { return high.empty() ? 0 : high[i]; }
};
template <class A>
PoolGeometry pool_geometry(const A& a) {
  return {a.mode, a.window, a.strides, a.pad_low, a.pad_high, a.channels_first};
}
template <class To, class From>
To pool_attrs(const From& a) {
  return To{a.mode, a.window, a.strides, a.pad_low, a.pad_high, a.channels_first};
}

/// The shape of y; checks x, its dtype and the geometry.
Shape pool_shape(const char* name, const PoolGeometry& g, const TensorType& x);

/// Calls f(offsets) for each place in the window, row-major.
void for_taps(const PoolGeometry& g, const std::function<void(const Ints& tap)>& f);

/// The lowest number of a dtype, which max pools pad with.
double lowest_of(DType dtype);

/// x with its padding, as take_tap expects it.
Tensor pad_windows(const PoolGeometry& g, const Tensor& x, double value);
/// The element at place `tap` of every window, in the shape of y.
Tensor take_tap(const PoolGeometry& g, const Tensor& padded, const Ints& tap);
/// The adjoint of take_tap: zeros in the shape of padded x, with each element of `y` where take_tap
/// found it.
Tensor put_tap(const PoolGeometry& g, const Tensor& x, const Tensor& y, const Ints& tap);
/// The adjoint of pad_windows with zeros.
Tensor drop_padding(const PoolGeometry& g, const Tensor& padded);

/// Elements in each window that are not padding; broadcasts against y.
Tensor window_sizes(const PoolGeometry& g, const Tensor& x);

/// For max: for each place in the window, where it holds the first maximum. Calls f(tap, bool
/// tensor).
void for_first_maxima(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                      const std::function<void(const Ints& tap, const Tensor& here)>& f);

}  // namespace horngate::rules
