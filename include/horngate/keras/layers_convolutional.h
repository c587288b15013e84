// Layers: convolutions of series, images and volumes; upsampling, zero padding, cropping.
// Data is (samples, spatial.., channels), or (samples, channels, spatial..) for channels_first.
#pragma once

#include "horngate/keras/layer.h"

namespace horngate::keras {

template <size_t N>
struct ConvOptions {
  Sizes<N> strides = 1;
  PaddingChoice padding = Padding::valid;  // Conv1D also takes causal
  DataFormatChoice data_format = default_data_format<N>();
  Sizes<N> dilation_rate = 1;
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  WeightConstraint kernel_constraint = {};
  WeightConstraint bias_constraint = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
using Conv1DOptions = ConvOptions<1>;
using Conv2DOptions = ConvOptions<2>;
using Conv3DOptions = ConvOptions<3>;
/// Convolution of series; with causal padding no step sees a later one.
/// Example: auto y = keras::Conv1D(32, 3, {.padding = "causal", .dilation_rate = 2})(x);
[[nodiscard]] HORNGATE_API Layer Conv1D(int64_t filters, const Sizes<1>& kernel_size,
                                        const Conv1DOptions& options = {});
/// Convolution of images.
/// Example: auto y = keras::Conv2D(32, {3, 3}, {.activation = "relu"})(x);
[[nodiscard]] HORNGATE_API Layer Conv2D(int64_t filters, const Sizes<2>& kernel_size,
                                        const Conv2DOptions& options = {});
/// Convolution of volumes.
[[nodiscard]] HORNGATE_API Layer Conv3D(int64_t filters, const Sizes<3>& kernel_size,
                                        const Conv3DOptions& options = {});

struct Conv2DTransposeOptions {
  Sizes<2> strides = 1;
  PaddingChoice padding = Padding::valid;
  SizesOption<2> output_padding = {};  // rows and columns more; smaller than strides
  DataFormatChoice data_format = {};
  Sizes<2> dilation_rate = 1;
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  WeightConstraint kernel_constraint = {};
  WeightConstraint bias_constraint = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// The way back of a Conv2D, from its result's shape to its input's: enlarges by the strides.
/// Example: auto y = keras::Conv2DTranspose(16, {3, 3}, {.strides = 2, .padding = "same"})(x);
[[nodiscard]] HORNGATE_API Layer Conv2DTranspose(int64_t filters, const Sizes<2>& kernel_size,
                                                 const Conv2DTransposeOptions& options = {});

struct Conv3DTransposeOptions {
  Sizes<3> strides = 1;
  PaddingChoice padding = Padding::valid;
  SizesOption<3> output_padding = {};
  DataFormatChoice data_format = {};
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  WeightConstraint kernel_constraint = {};
  WeightConstraint bias_constraint = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// The way back of a Conv3D.
[[nodiscard]] HORNGATE_API Layer Conv3DTranspose(int64_t filters, const Sizes<3>& kernel_size,
                                                 const Conv3DTransposeOptions& options = {});

template <size_t N>
struct SeparableConvOptions {
  Sizes<N> strides = 1;
  PaddingChoice padding = Padding::valid;
  DataFormatChoice data_format = default_data_format<N>();
  Sizes<N> dilation_rate = 1;
  int64_t depth_multiplier = 1;  // results for each channel of the input
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer pointwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer pointwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  WeightConstraint depthwise_constraint = {};
  WeightConstraint pointwise_constraint = {};
  WeightConstraint bias_constraint = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
using SeparableConv1DOptions = SeparableConvOptions<1>;
using SeparableConv2DOptions = SeparableConvOptions<2>;
/// Each channel by itself along the steps, then all channels of a step.
[[nodiscard]] HORNGATE_API Layer SeparableConv1D(int64_t filters, const Sizes<1>& kernel_size,
                                                 const SeparableConv1DOptions& options = {});
/// Each channel by itself along rows and columns, then all channels of a pixel.
[[nodiscard]] HORNGATE_API Layer SeparableConv2D(int64_t filters, const Sizes<2>& kernel_size,
                                                 const SeparableConv2DOptions& options = {});

struct DepthwiseConv2DOptions {
  Sizes<2> strides = 1;
  PaddingChoice padding = Padding::valid;
  int64_t depth_multiplier = 1;  // results for each channel of the input
  DataFormatChoice data_format = {};
  Sizes<2> dilation_rate = 1;
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  WeightConstraint depthwise_constraint = {};
  WeightConstraint bias_constraint = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Each channel by itself.
/// Example: auto y = keras::DepthwiseConv2D({3, 3}, {.padding = "same"})(x);
[[nodiscard]] HORNGATE_API Layer DepthwiseConv2D(const Sizes<2>& kernel_size,
                                                 const DepthwiseConv2DOptions& options = {});

struct UpSampling1DOptions {
  int64_t size = 2;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Repeats each step.
[[nodiscard]] HORNGATE_API Layer UpSampling1D(const UpSampling1DOptions& options = {});

struct UpSampling2DOptions {
  Sizes<2> size = 2;
  DataFormatChoice data_format = {};
  InterpolationChoice interpolation = Interpolation::nearest;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Enlarges images.
/// Example: auto y = keras::UpSampling2D({.size = {2, 3}, .interpolation = "bilinear"})(x);
[[nodiscard]] HORNGATE_API Layer UpSampling2D(const UpSampling2DOptions& options = {});

struct UpSampling3DOptions {
  Sizes<3> size = 2;
  DataFormatChoice data_format = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Enlarges volumes.
[[nodiscard]] HORNGATE_API Layer UpSampling3D(const UpSampling3DOptions& options = {});

/// Numbers before and after each of N axes: 1 for all, {1, 2} for both sides of each axis, {{1, 0}, {2, 3}} for each
/// side.
template <size_t N>
class Borders : public std::array<Sizes<2>, N> {
 public:
  template <std::integral T>
  Borders(T all) : Borders(all, std::make_index_sequence<N>()) {}
  Borders(const Sizes<2>& rows, const Sizes<2>& cols)
    requires(N == 2)
      : std::array<Sizes<2>, N>{rows, cols} {}
  Borders(const Sizes<2>& depth, const Sizes<2>& rows, const Sizes<2>& cols)
    requires(N == 3)
      : std::array<Sizes<2>, N>{depth, rows, cols} {}

 private:
  template <class T, size_t... I>
  Borders(T all, std::index_sequence<I...>)
      : std::array<Sizes<2>, N>{(static_cast<void>(I), Sizes<2>(all))...} {}
};

struct ZeroPadding1DOptions {
  Sizes<2> padding = 1;  // before and after
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Zeros before and after the steps.
[[nodiscard]] HORNGATE_API Layer ZeroPadding1D(const ZeroPadding1DOptions& options = {});

template <size_t N>
struct ZeroPaddingOptions {
  Borders<N> padding = 1;
  DataFormatChoice data_format = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
using ZeroPadding2DOptions = ZeroPaddingOptions<2>;
using ZeroPadding3DOptions = ZeroPaddingOptions<3>;
/// Zeros around images.
/// Example: auto y = keras::ZeroPadding2D({.padding = {{0, 1}, {0, 1}}})(x);
[[nodiscard]] HORNGATE_API Layer ZeroPadding2D(const ZeroPadding2DOptions& options = {});
/// Zeros around volumes.
[[nodiscard]] HORNGATE_API Layer ZeroPadding3D(const ZeroPadding3DOptions& options = {});

struct Cropping1DOptions {
  Sizes<2> cropping = 1;  // at the beginning and the end
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Leaves out first and last steps.
[[nodiscard]] HORNGATE_API Layer Cropping1D(const Cropping1DOptions& options = {});

template <size_t N>
struct CroppingOptions {
  Borders<N> cropping = N == 2 ? 0 : 1;
  DataFormatChoice data_format = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
using Cropping2DOptions = CroppingOptions<2>;
using Cropping3DOptions = CroppingOptions<3>;
/// Cuts the borders of images.
/// Example: auto y = keras::Cropping2D({.cropping = {{2, 2}, {4, 4}}})(x);
[[nodiscard]] HORNGATE_API Layer Cropping2D(const Cropping2DOptions& options = {});
/// Cuts the borders of volumes.
[[nodiscard]] HORNGATE_API Layer Cropping3D(const Cropping3DOptions& options = {});

}  // namespace horngate::keras
