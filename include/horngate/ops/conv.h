// Convolution and pooling. Data is (samples, spatial.., channels), or (samples, channels,
// spatial..) for channels_first; kernels are (spatial.., in, out) for both. Nothing is flipped.
#pragma once

#include <array>
#include <optional>

#include "horngate/args.h"
#include "horngate/options.h"
#include "horngate/tensor.h"

namespace horngate {

struct Conv1dOptions {
  int64_t strides = 1;
  PaddingChoice padding = Padding::valid;  // conv1d also takes causal
  DataFormatChoice data_format = {};       // unset: image_data_format()
  int64_t dilation_rate = 1;
};

struct Conv2dOptions {
  std::array<int64_t, 2> strides = {1, 1};
  PaddingChoice padding = Padding::valid;
  DataFormatChoice data_format = {};
  std::array<int64_t, 2> dilation_rate = {1, 1};
};

struct Conv3dOptions {
  std::array<int64_t, 3> strides = {1, 1, 1};
  PaddingChoice padding = Padding::valid;
  DataFormatChoice data_format = {};
  std::array<int64_t, 3> dilation_rate = {1, 1, 1};
};

/// 1D convolution. With causal padding, for channels_last only, output t sees inputs up to t.
/// @param kernel  (steps, in, out)
/// Example: y = K::conv1d(x, w, {.padding = K::Padding::causal, .dilation_rate = 2});
[[nodiscard]] HORNGATE_API Tensor conv1d(const Tensor& x, const Tensor& kernel,
                                         const Conv1dOptions& options = {});

/// 2D convolution.
/// @param kernel  (rows, cols, in, out)
/// Example: y = K::conv2d(x, w, {.strides = {2, 2}, .padding = K::Padding::same});
[[nodiscard]] HORNGATE_API Tensor conv2d(const Tensor& x, const Tensor& kernel,
                                         const Conv2dOptions& options = {});

/// 3D convolution.
/// @param kernel  (d1, d2, d3, in, out)
/// Example: y = K::conv3d(x, w, {.padding = K::Padding::same});
[[nodiscard]] HORNGATE_API Tensor conv3d(const Tensor& x, const Tensor& kernel,
                                         const Conv3dOptions& options = {});

/// The transpose of conv2d, as in its gradient: from the shape of conv2d's result to that of its
/// input.
/// @param kernel        (rows, cols, out, in)
/// @param output_shape  whole shape of the result; None for the samples: those of x
/// Example: y = K::conv2d_transpose(x, w, {K::None, 28, 28, 16}, {.strides = {2, 2}});
[[nodiscard]] HORNGATE_API Tensor conv2d_transpose(const Tensor& x, const Tensor& kernel,
                                                   const ShapeArg& output_shape,
                                                   const Conv2dOptions& options = {});

struct Conv3dTransposeOptions {
  std::array<int64_t, 3> strides = {1, 1, 1};
  PaddingChoice padding = Padding::valid;
  DataFormatChoice data_format = {};
};

/// The transpose of conv3d.
/// @param kernel        (d1, d2, d3, out, in)
/// @param output_shape  whole shape of the result; None for the samples: those of x
/// Example: y = K::conv3d_transpose(x, w, {K::None, 8, 8, 8, 4}, {.strides = {2, 2, 2}});
[[nodiscard]] HORNGATE_API Tensor conv3d_transpose(const Tensor& x, const Tensor& kernel,
                                                   const ShapeArg& output_shape,
                                                   const Conv3dTransposeOptions& options = {});

/// Convolves each channel with its own kernels; the result has in * multiplier channels, grouped by
/// input channel.
/// @param depthwise_kernel  (rows, cols, in, multiplier)
/// Example: y = K::depthwise_conv2d(x, w, {.padding = K::Padding::same});
[[nodiscard]] HORNGATE_API Tensor depthwise_conv2d(const Tensor& x, const Tensor& depthwise_kernel,
                                                   const Conv2dOptions& options = {});

/// A separate convolution of each channel, then one of width 1 that mixes channels.
/// @param depthwise_kernel  (steps, in, multiplier)
/// @param pointwise_kernel  (1, in * multiplier, out)
/// Example: y = K::separable_conv1d(x, depthwise, pointwise, {.strides = 2});
[[nodiscard]] HORNGATE_API Tensor separable_conv1d(const Tensor& x, const Tensor& depthwise_kernel,
                                                   const Tensor& pointwise_kernel,
                                                   const Conv1dOptions& options = {});

/// The same in 2D.
/// @param depthwise_kernel  (rows, cols, in, multiplier)
/// @param pointwise_kernel  (1, 1, in * multiplier, out)
/// Example: y = K::separable_conv2d(x, depthwise, pointwise, {.padding = K::Padding::same});
[[nodiscard]] HORNGATE_API Tensor separable_conv2d(const Tensor& x, const Tensor& depthwise_kernel,
                                                   const Tensor& pointwise_kernel,
                                                   const Conv2dOptions& options = {});

/// Convolution with a different kernel at each position, without padding.
/// @param inputs  (samples, steps, channels) whatever the data format
/// @param kernel  (output steps, kernel_size * channels, filters)
/// Example: y = K::local_conv1d(x, w, 3, 1);
[[nodiscard]] HORNGATE_API Tensor local_conv1d(const Tensor& inputs, const Tensor& kernel,
                                               int64_t kernel_size, int64_t strides,
                                               DataFormatChoice data_format = {});

/// The same in 2D.
/// @param kernel        (output rows * cols, features of a window, filters); features are ordered
///                      like the data: (rows, cols, channels) or (channels, rows, cols)
/// @param output_shape  (output rows, output cols)
/// Example: y = K::local_conv2d(x, w, {3, 3}, {1, 1}, {6, 6});
[[nodiscard]] HORNGATE_API Tensor local_conv2d(const Tensor& inputs, const Tensor& kernel,
                                               const std::array<int64_t, 2>& kernel_size,
                                               const std::array<int64_t, 2>& strides,
                                               const std::array<int64_t, 2>& output_shape,
                                               DataFormatChoice data_format = {});

struct Pool2dOptions {
  std::array<int64_t, 2> strides = {1, 1};
  PaddingChoice padding = Padding::valid;
  DataFormatChoice data_format = {};
  PoolModeChoice pool_mode = PoolMode::max;
};

struct Pool3dOptions {
  std::array<int64_t, 3> strides = {1, 1, 1};
  PaddingChoice padding = Padding::valid;
  DataFormatChoice data_format = {};
  PoolModeChoice pool_mode = PoolMode::max;
};

/// Largest or mean value of each window; padding counts for neither.
/// Example: y = K::pool2d(x, {2, 2}, {.strides = {2, 2}, .pool_mode = K::PoolMode::avg});
[[nodiscard]] HORNGATE_API Tensor pool2d(const Tensor& x, const std::array<int64_t, 2>& pool_size,
                                         const Pool2dOptions& options = {});

/// The same in 3D.
/// Example: y = K::pool3d(x, {2, 2, 2}, {.strides = {2, 2, 2}});
[[nodiscard]] HORNGATE_API Tensor pool3d(const Tensor& x, const std::array<int64_t, 3>& pool_size,
                                         const Pool3dOptions& options = {});

}  // namespace horngate
