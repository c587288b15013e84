// Convolutions with a different kernel at each position: windows are laid side by side, then one
// product per position.
#include "api/windows.h"
#include "horngate/ops/conv.h"
#include "ir/checked.h"

namespace horngate {
namespace {

struct Local {
  std::string_view function;
  Tensor x, kernel;
};

Local operands_of(std::string_view function, const Tensor& inputs, const Tensor& kernel,
                  size_t rank) {
  Local l{function, float_operand(function, inputs, "inputs"),
          float_operand(function, kernel, "kernel")};
  unify(function, &l.x, &l.kernel);
  check(l.x.ndim() == rank, function, "inputs must have ", rank, " dimensions; got shape ",
        l.x.shape(), ".");
  check(l.kernel.ndim() == 3 && l.kernel.shape().is_static(), function,
        "kernel must have 3 known dimensions (positions, features, filters); got shape ",
        l.kernel.shape(), ".");
  return l;
}

void check_sizes(const Local& l, const Ints& size, const Ints& strides, const Ints& out,
                 size_t first_axis, size_t channel_axis) {
  int64_t features = l.x.shape().dim(channel_axis), positions = 1;
  for (size_t i = 0; i < size.size(); ++i) {
    check(size[i] >= 1 && strides[i] >= 1, l.function,
          "kernel_size and strides must be at least 1; got ", size, " and ", strides, ".");
    const int64_t n = l.x.shape().dim(first_axis + i);
    const int64_t last =
        checked_add(l.function, checked_mul(l.function, out[i] - 1, strides[i]), size[i]);
    check(n < 0 || out[i] == 0 || last <= n, l.function, "the last of ", out[i],
          " windows ends at ", last, ", beyond axis ", first_axis + i, " of inputs of shape ",
          l.x.shape(), ".");
    if (features >= 0) features = checked_mul(l.function, features, size[i]);
    positions = checked_mul(l.function, positions, out[i]);
  }
  check(l.kernel.shape().dim(0) == positions, l.function, "kernel must have ", positions,
        " positions; got shape ", l.kernel.shape(), ".");
  check(features < 0 || l.kernel.shape().dim(1) == features, l.function, "kernel must have ",
        features, " features, the size of a window times the channels; got shape ",
        l.kernel.shape(), ".");
}

/// The elements of x at one place of each window, along an axis.
Tensor taps(const Tensor& x, size_t axis, int64_t at, int64_t stride, int64_t count) {
  const int64_t stop = count ? at + (count - 1) * stride + 1 : at;
  return prim::slice_axis(x, static_cast<int64_t>(axis), at, stop, stride);
}

}  // namespace

Tensor local_conv1d(const Tensor& inputs, const Tensor& kernel, int64_t kernel_size,
                    int64_t strides, DataFormatChoice) {
  const CalledAs called(__func__);
  const Local l = operands_of("local_conv1d", inputs, kernel, 3);
  const int64_t out = l.kernel.shape().dim(0);
  check_sizes(l, {kernel_size}, {strides}, {out}, 1, 2);
  Tensors parts;
  for (int64_t i = 0; i < kernel_size; ++i) parts.push_back(taps(l.x, 1, i, strides, out));
  // (samples, out, features) and (out, features, filters) -> (out, samples, filters)
  const Tensor y = prim::dot_general(prim::concat(parts, 2), l.kernel, {1}, {0}, {2}, {1});
  return prim::transpose(y, {1, 0, 2});
}

Tensor local_conv2d(const Tensor& inputs, const Tensor& kernel,
                    const std::array<int64_t, 2>& kernel_size,
                    const std::array<int64_t, 2>& strides,
                    const std::array<int64_t, 2>& output_shape, DataFormatChoice data_format) {
  const CalledAs called(__func__);
  const Local l = operands_of("local_conv2d", inputs, kernel, 4);
  const bool first = is_channels_first(data_format);
  const auto [rows, cols] = output_shape;
  check(rows >= 0 && cols >= 0, "local_conv2d", "output_shape must not be negative; got ",
        Ints{rows, cols}, ".");
  const size_t axis = first ? 2 : 1;
  check_sizes(l, {kernel_size[0], kernel_size[1]}, {strides[0], strides[1]}, {rows, cols}, axis,
              first ? 1 : 3);
  Tensors parts;
  for (int64_t i = 0; i < kernel_size[0]; ++i) {
    const Tensor row = taps(l.x, axis, i, strides[0], rows);
    for (int64_t j = 0; j < kernel_size[1]; ++j) {
      const Tensor t = taps(row, axis + 1, j, strides[1], cols);
      parts.push_back(first ? prim::expand_dims(t, {2}) : t);
    }
  }
  const int64_t features = l.kernel.shape().dim(1), filters = l.kernel.shape().dim(2);
  const int64_t positions = rows * cols;
  const SymDim samples = dim_of(l.x, 0);
  if (first) {
    // (samples, channels, taps, rows, cols): the features of a window are its channels, then its
    // taps
    const Tensor x =
        prim::reshape(prim::concat(parts, 2), shape_of_dims({samples, features, positions}));
    const Tensor y = prim::dot_general(x, l.kernel, {2}, {0}, {1}, {1});
    return prim::reshape(prim::transpose(y, {1, 2, 0}),
                         shape_of_dims({samples, filters, rows, cols}));
  }
  const Tensor x =
      prim::reshape(prim::concat(parts, 3), shape_of_dims({samples, positions, features}));
  const Tensor y = prim::dot_general(x, l.kernel, {1}, {0}, {2}, {1});
  return prim::reshape(prim::transpose(y, {1, 0, 2}),
                       shape_of_dims({samples, rows, cols, filters}));
}

}  // namespace horngate
