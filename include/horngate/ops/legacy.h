// Names from older Keras versions, with their old arguments. The compiler says what to write today.
#pragma once

#include "horngate/config.h"
#include "horngate/ops/conv.h"
#include "horngate/ops/elementwise.h"
#include "horngate/ops/nn.h"
#include "horngate/ops/shape.h"
#include "horngate/ops/values.h"

namespace horngate {

/// tf: channels_last. th: channels_first, with kernels (out, in, rows, cols).
enum class DimOrdering : uint8_t { tf, th };

/// The old form of image_data_format.
/// Example: const bool last = K::image_dim_ordering() == K::DimOrdering::tf;
[[deprecated("write image_data_format")]] [[nodiscard]] inline DimOrdering image_dim_ordering() {
  return image_data_format() == DataFormat::channels_last ? DimOrdering::tf : DimOrdering::th;
}

/// The old form of set_image_data_format.
/// Example: K::set_image_dim_ordering(K::DimOrdering::th);
[[deprecated("write set_image_data_format")]] inline void set_image_dim_ordering(
    DimOrdering dim_ordering) {
  set_image_data_format(dim_ordering == DimOrdering::tf ? DataFormat::channels_last
                                                        : DataFormat::channels_first);
}

/// The old name of int_shape.
/// Example: K::get_variable_shape(w) == K::Shape{784, 10};
[[deprecated("write int_shape")]] [[nodiscard]] inline Shape get_variable_shape(const Tensor& x) {
  return int_shape(x);
}

/// The old name of less.
/// Example: y = K::lesser(x, 0.5);
[[deprecated("write less")]] [[nodiscard]] inline Tensor lesser(const Number& x, const Number& y) {
  return less(x, y);
}

/// The old name of less_equal.
/// Example: y = K::lesser_equal(x, 0.5);
[[deprecated("write less_equal")]] [[nodiscard]] inline Tensor lesser_equal(const Number& x,
                                                                            const Number& y) {
  return less_equal(x, y);
}

/// The old name of batch_normalization.
/// Example: y = K::normalize_batch(x, mean, var, beta, gamma, 1e-5);
[[deprecated("write batch_normalization")]] [[nodiscard]] inline Tensor normalize_batch(
    const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& beta, const Tensor& gamma,
    double epsilon = 0.0001) {
  return batch_normalization(x, mean, var, beta, gamma, {.epsilon = epsilon});
}

struct AsymmetricTemporalPaddingOptions {
  int64_t left_pad = 1;
  int64_t right_pad = 1;
};

/// The old form of temporal_padding.
/// Example: y = K::asymmetric_temporal_padding(x, {.left_pad = 2, .right_pad = 0});
[[deprecated("write temporal_padding")]] [[nodiscard]] inline Tensor asymmetric_temporal_padding(
    const Tensor& x, const AsymmetricTemporalPaddingOptions& options = {}) {
  return temporal_padding(x, {options.left_pad, options.right_pad});
}

struct Deconv2dOptions {
  std::array<int64_t, 2> strides = {1, 1};
  Padding border_mode = Padding::valid;
  DimOrdering dim_ordering = DimOrdering::th;
  Shape image_shape = {};  // hints that are no longer needed
  Shape filter_shape = {};
};

/// The old form of conv2d_transpose.
/// @param kernel  (out, in, rows, cols) for th, (rows, cols, in, out) for tf
/// Example: y = K::deconv2d(x, w, {1, 3, 6, 6}, {.border_mode = K::Padding::same});
[[deprecated("write conv2d_transpose")]] [[nodiscard]] inline Tensor deconv2d(
    const Tensor& x, const Tensor& kernel, const ShapeArg& output_shape,
    const Deconv2dOptions& options = {}) {
  const bool is_th = options.dim_ordering == DimOrdering::th;
  return conv2d_transpose(
      x, permute_dimensions(kernel, is_th ? Ints{2, 3, 0, 1} : Ints{0, 1, 3, 2}), output_shape,
      {.strides = options.strides,
       .padding = options.border_mode,
       .data_format = is_th ? DataFormat::channels_first : DataFormat::channels_last});
}

}  // namespace horngate
