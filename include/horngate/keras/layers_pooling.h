// Layers: the largest or the mean of windows, or of all positions.
// Data is (samples, spatial.., channels), or (samples, channels, spatial..) for channels_first.
#pragma once

#include "horngate/keras/layer.h"

namespace horngate::keras {

template <size_t N>
struct PoolingOptions {
  Sizes<N> pool_size = 2;
  SizesOption<N> strides = {};  // unset: pool_size
  PaddingChoice padding = Padding::valid;
  DataFormatChoice data_format = default_data_format<N>();
  HORNGATE_KERAS_LAYER_OPTIONS
};
using Pooling1DOptions = PoolingOptions<1>;
using Pooling2DOptions = PoolingOptions<2>;
using Pooling3DOptions = PoolingOptions<3>;

/// The largest of each window of steps.
[[nodiscard]] HORNGATE_API Layer MaxPooling1D(const Pooling1DOptions& options = {});
/// The largest of each window of pixels.
/// Example: auto y = keras::MaxPooling2D({.pool_size = {3, 3}, .strides = 2, .padding = "same"})(x);
[[nodiscard]] HORNGATE_API Layer MaxPooling2D(const Pooling2DOptions& options = {});
/// The largest of each window of a volume.
[[nodiscard]] HORNGATE_API Layer MaxPooling3D(const Pooling3DOptions& options = {});
/// The mean of each window of steps.
[[nodiscard]] HORNGATE_API Layer AveragePooling1D(const Pooling1DOptions& options = {});
/// The mean of each window of pixels.
[[nodiscard]] HORNGATE_API Layer AveragePooling2D(const Pooling2DOptions& options = {});
/// The mean of each window of a volume.
[[nodiscard]] HORNGATE_API Layer AveragePooling3D(const Pooling3DOptions& options = {});

template <size_t N>
struct GlobalPoolingOptions {
  DataFormatChoice data_format = default_data_format<N>();
  HORNGATE_KERAS_LAYER_OPTIONS
};
using GlobalPooling1DOptions = GlobalPoolingOptions<1>;
using GlobalPooling2DOptions = GlobalPoolingOptions<2>;
using GlobalPooling3DOptions = GlobalPoolingOptions<3>;

/// The largest of all steps: (samples, channels).
[[nodiscard]] HORNGATE_API Layer GlobalMaxPooling1D(const GlobalPooling1DOptions& options = {});
/// The largest of all pixels.
[[nodiscard]] HORNGATE_API Layer GlobalMaxPooling2D(const GlobalPooling2DOptions& options = {});
/// The largest of a whole volume.
[[nodiscard]] HORNGATE_API Layer GlobalMaxPooling3D(const GlobalPooling3DOptions& options = {});
/// The mean of all steps, or of those that a mask leaves.
[[nodiscard]] HORNGATE_API Layer GlobalAveragePooling1D(const GlobalPooling1DOptions& options = {});
/// The mean of all pixels.
[[nodiscard]] HORNGATE_API Layer GlobalAveragePooling2D(const GlobalPooling2DOptions& options = {});
/// The mean of a whole volume.
[[nodiscard]] HORNGATE_API Layer GlobalAveragePooling3D(const GlobalPooling3DOptions& options = {});

}  // namespace horngate::keras
