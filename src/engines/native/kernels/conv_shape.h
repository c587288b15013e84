// The geometry of a convolution, the same for its three primitives, and how it is cut into pieces.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engines/native/kernel.h"

namespace horngate::native {

/// Which of the three: the result is y, dx or dw.
enum class ConvResult : uint8_t { y, dx, dw };

/// y[p, o] = sum over taps t and channels c of x[p * stride - low + t * dilation, c] * w[t, c, o].
/// Always three spatial axes; missing ones come first and have one element.
struct ConvShape {
  using Axes = std::array<int64_t, 3>;
  int64_t n = 0, c = 0, o = 0, groups = 1;
  Axes in{1, 1, 1}, out{1, 1, 1}, taps{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, low{}, high{};
  int rank = 2;
  bool channels_first = false;

  bool operator==(const ConvShape&) const = default;
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  int64_t tap_count() const { return taps[0] * taps[1] * taps[2]; }
  int64_t c_per_group() const { return c / groups; }
  int64_t o_per_group() const { return o / groups; }
  int64_t x_count() const { return n * c * in_size(); }
  int64_t y_count() const { return n * o * out_size(); }
  int64_t w_count() const { return tap_count() * c_per_group() * o; }
  /// Number of elements that the taps span along an axis.
  int64_t span(int axis) const { return dilation[axis] * (taps[axis] - 1) + 1; }
  bool is_depthwise() const { return groups == c && groups > 1; }
  /// A single tap at each input: y is a plain product of x and w.
  bool is_pointwise() const;
  double flops() const;
};

/// x, y, w are the primitive's shapes; each may come from its operands, its result or `shape`.
template <class A>
ConvShape conv_shape(const A& a, const Shape& x, const Shape& w, const Shape& y);

/// A piece of a convolution: some images, or some rows (of the first spatial axis) of one image.
struct ConvPiece {
  int64_t image = 0, x_row = 0, y_row = 0;
  size_t shape = 0;  // index into ConvPieces::shapes
};
struct ConvPieces {
  std::vector<ConvShape> shapes;  // without duplicates
  std::vector<ConvPiece> pieces;
};

/// Cuts the work so that many threads can share it; the cuts do not depend on the number of
/// threads. Pieces of y and dw split the rows of y, pieces of dx those of x.
ConvPieces cut_conv(const ConvShape& shape, ConvResult result);

/// The kernel for a convolution without any work: does nothing, or writes zeros. nullptr if there
/// is work.
KernelPtr make_conv_empty(const ConvShape& shape, ConvResult result, DType dtype);

/// The same sum with x and y exchanged; stride 1 only.
/// y[p] = sum_t x[p - low + t d] w[t] is the dx of a convolution from y to x whose taps run
/// backwards.
ConvShape swapped(const ConvShape& shape);
/// Its weights: to[taps - 1 - t][b][a] = from[t][a][b].
void flip_weights(const float* from, int64_t taps, int64_t a, int64_t b, float* to);

// Candidate kernels; each may decline with nullptr.
KernelPtr make_conv_winograd(const ConvShape& shape, ConvResult result);
KernelPtr make_conv_onednn(const ConvShape& shape, ConvResult result);
KernelPtr make_conv_adapted(const ConvShape& shape, ConvResult result);
KernelPtr make_conv_depthwise(const ConvShape& shape, ConvResult result, DType dtype);
KernelPtr make_conv_gemm(const ConvShape& shape, ConvResult result, DType dtype);
KernelPtr make_conv_reference(const ConvShape& shape, ConvResult result, DType dtype);

/// The best of them.
KernelPtr make_conv_kernel(const ConvShape& shape, ConvResult result, DType dtype);

template <class A>
ConvShape conv_shape(const A& a, const Shape& x, const Shape& w, const Shape& y) {
  ConvShape s;
  const size_t rank = x.ndim() - 2;
  s.rank = static_cast<int>(rank);
  s.channels_first = a.channels_first;
  s.groups = a.groups;
  s.n = x.dim(0);
  s.c = x.dim(a.channels_first ? 1 : rank + 1);
  s.o = y.dim(a.channels_first ? 1 : rank + 1);
  const size_t first = a.channels_first ? 2 : 1;
  const auto entry = [](const Ints& v, size_t i, int64_t missing) {
    return v.empty() ? missing : v[i];
  };
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = 3 - rank + i;
    s.in[axis] = x.dim(first + i);
    s.out[axis] = y.dim(first + i);
    s.taps[axis] = w.dim(i);
    s.stride[axis] = entry(a.strides, i, 1);
    s.dilation[axis] = entry(a.dilation, i, 1);
    s.low[axis] = entry(a.pad_low, i, 0);
    // How far the last window reaches into the padding; elements that no window reaches do not
    // count.
    s.high[axis] = (s.out[axis] - 1) * s.stride[axis] + s.span(static_cast<int>(axis)) -
                   s.in[axis] - s.low[axis];
  }
  return s;
}

}  // namespace horngate::native
