// Layers: Input, Dense, Activation, Dropout, shapes, Lambda, masks.
#pragma once

#include "horngate/keras/layer.h"

namespace horngate::keras {

struct InputOptions {
  ShapeOption shape = {};        // without samples
  ShapeOption batch_shape = {};  // with samples
  std::string name = {};
  DTypeChoice dtype = {};  // unset: floatx
  bool sparse = false;
};
/// Where data enters a model.
/// Example: auto x = keras::Input({.shape = {28, 28, 1}});
[[nodiscard]] HORNGATE_API Value Input(const InputOptions& options);

struct DenseOptions {
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
/// activation(x . kernel + bias), along the last axis.
/// Example: auto y = keras::Dense(10, {.activation = "softmax"})(x);
[[nodiscard]] HORNGATE_API Layer Dense(int64_t units, const DenseOptions& options = {});

/// Options of layers that have none of their own.
struct PlainOptions {
  HORNGATE_KERAS_LAYER_OPTIONS
};

/// A function, element by element as a rule.
/// Example: auto y = keras::Activation("relu")(x);
[[nodiscard]] HORNGATE_API Layer Activation(const ActivationFunction& activation,
                                            const PlainOptions& options = {});

struct DropoutLayerOptions {
  std::optional<Shape> noise_shape = {};  // None: as the input
  std::optional<int64_t> seed = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Zeroes a fraction of the input at random while training, and scales the rest up.
/// Example: auto y = keras::Dropout(0.5)(x);
[[nodiscard]] HORNGATE_API Layer Dropout(double rate, const DropoutLayerOptions& options = {});

/// Dropout of whole features of (samples, time, features).
[[nodiscard]] HORNGATE_API Layer SpatialDropout1D(double rate, const PlainOptions& options = {});

struct SpatialDropoutOptions {
  DataFormatChoice data_format = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Dropout of whole feature maps of images.
[[nodiscard]] HORNGATE_API Layer SpatialDropout2D(double rate,
                                                  const SpatialDropoutOptions& options = {});
/// Dropout of whole feature maps of volumes.
[[nodiscard]] HORNGATE_API Layer SpatialDropout3D(double rate,
                                                  const SpatialDropoutOptions& options = {});

struct FlattenOptions {
  DataFormatChoice data_format = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// (samples, everything else).
[[nodiscard]] HORNGATE_API Layer Flatten(const FlattenOptions& options = {});

/// Another shape, without samples; one size may be -1.
/// Example: auto y = keras::Reshape({4, -1})(x);
[[nodiscard]] HORNGATE_API Layer Reshape(const Ints& target_shape,
                                         const PlainOptions& options = {});

/// Axes in another order, counted from 1: {2, 1} swaps the two after the samples.
[[nodiscard]] HORNGATE_API Layer Permute(const Ints& dims, const PlainOptions& options = {});

/// (samples, features) -> (samples, n, features)
[[nodiscard]] HORNGATE_API Layer RepeatVector(int64_t n, const PlainOptions& options = {});

struct MaskingOptions {
  double mask_value = 0.0;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Leaves out time steps whose features all have this value.
[[nodiscard]] HORNGATE_API Layer Masking(const MaskingOptions& options = {});

struct ActivityRegularizationOptions {
  double l1 = 0.0;
  double l2 = 0.0;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// The input unchanged, with a loss on it.
[[nodiscard]] HORNGATE_API Layer
ActivityRegularization(const ActivityRegularizationOptions& options = {});

/// K functions as a layer: from its inputs to its results.
using LambdaFunction = std::function<Tensors(const Tensors& inputs)>;

/// Anything that takes one tensor, or several, and gives one or several.
class HORNGATE_API LambdaCall : public LambdaFunction {
 public:
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const Tensor&>
  LambdaCall(F f)
      : LambdaFunction([f = std::move(f)](const Tensors& x) { return Tensors{f(x.at(0))}; }) {}
  template <class F>
    requires(!std::is_invocable_v<const F&, const Tensor&> &&
             std::is_invocable_r_v<Tensor, const F&, const Tensors&>)
  LambdaCall(F f)
      : LambdaFunction([f = std::move(f)](const Tensors& x) { return Tensors{f(x)}; }) {}
  template <class F>
    requires(!std::is_invocable_v<const F&, const Tensor&> &&
             std::is_same_v<Tensors, std::invoke_result_t<const F&, const Tensors&>>)
  LambdaCall(F f) : LambdaFunction(std::move(f)) {}
};

/// K functions as a layer. Files hold its name alone: who loads them gives the function again.
/// Example: auto apart = keras::Lambda("apart", [](const K::Tensors& v) { return K::abs(v[0] - v[1]); });
[[nodiscard]] HORNGATE_API Layer Lambda(const std::string& name, const LambdaCall& function,
                                        const PlainOptions& options = {});
using Lambdas = std::map<std::string, LambdaCall>;

}  // namespace horngate::keras
