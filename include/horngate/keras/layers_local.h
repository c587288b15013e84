// Layers: convolutions with different weights at each position.
#pragma once

#include "horngate/keras/layer.h"

namespace horngate::keras {

template <size_t N>
struct LocallyConnectedOptions {
  Sizes<N> strides = 1;
  PaddingChoice padding = Padding::valid;  // the only one
  DataFormatChoice data_format = {};       // of LocallyConnected1D: channels_last, the only one
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
using LocallyConnected1DOptions = LocallyConnectedOptions<1>;
using LocallyConnected2DOptions = LocallyConnectedOptions<2>;
/// A Conv1D whose kernel and bias differ from step to step; the number of steps must be known.
/// Example: auto y = keras::LocallyConnected1D(32, 3)(x);
[[nodiscard]] HORNGATE_API Layer LocallyConnected1D(int64_t filters, const Sizes<1>& kernel_size,
                                                    const LocallyConnected1DOptions& options = {});
/// A Conv2D whose kernel and bias differ from pixel to pixel; rows and columns must be known.
[[nodiscard]] HORNGATE_API Layer LocallyConnected2D(int64_t filters, const Sizes<2>& kernel_size,
                                                    const LocallyConnected2DOptions& options = {});

}  // namespace horngate::keras
