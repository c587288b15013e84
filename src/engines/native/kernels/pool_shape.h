// The geometry of pooling, the same for pool and pool_grad.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engines/native/kernel.h"

namespace horngate::native {

/// Always three spatial axes; missing ones come first and have one element.
struct PoolShape {
  using Axes = std::array<int64_t, 3>;
  int64_t n = 0, c = 0;
  Axes in{1, 1, 1}, out{1, 1, 1}, window{1, 1, 1}, stride{1, 1, 1}, low{};
  bool channels_first = false, average = false;

  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  /// Whether every element of x lies in exactly one window.
  bool is_partition() const {
    for (int i = 0; i < 3; ++i)
      if (stride[i] != window[i] || low[i] != 0 || in[i] != out[i] * window[i]) return false;
    return true;
  }
};

/// The part of a window that lies inside x: padding counts neither for max nor for avg.
struct PoolWindow {
  int64_t begin[3], end[3];
  PoolWindow(const PoolShape& s, int64_t d, int64_t h, int64_t w) {
    move(s, 0, d);
    move(s, 1, h);
    move(s, 2, w);
  }
  /// Moves to element `at` of y along an axis.
  void move(const PoolShape& s, int axis, int64_t at) {
    const int64_t first = at * s.stride[axis] - s.low[axis];
    begin[axis] = std::max<int64_t>(first, 0);
    end[axis] = std::min(first + s.window[axis], s.in[axis]);
  }
  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i < 3; ++i) n *= std::max<int64_t>(0, end[i] - begin[i]);
    return n;
  }
};

template <class A>
PoolShape pool_shape(const A& a, const Shape& x, const Shape& y) {
  PoolShape s;
  const size_t rank = x.ndim() - 2, first = a.channels_first ? 2 : 1;
  s.channels_first = a.channels_first;
  s.average = a.mode == "avg";
  s.n = x.dim(0);
  s.c = x.dim(a.channels_first ? 1 : rank + 1);
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = 3 - rank + i;
    s.in[axis] = x.dim(first + i);
    s.out[axis] = y.dim(first + i);
    s.window[axis] = a.window[i];
    s.stride[axis] = a.strides.empty() ? 1 : a.strides[i];
    s.low[axis] = a.pad_low.empty() ? 0 : a.pad_low[i];
  }
  return s;
}

}  // namespace horngate::native
