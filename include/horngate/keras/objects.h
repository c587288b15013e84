// What layers are configured with: activations, initializers, regularizers, constraints. Each is given by its Keras
// name, as an object with options, or as a callable.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "horngate/args.h"
#include "horngate/keras/json.h"
#include "horngate/options.h"
#include "horngate/tensor.h"

namespace horngate::keras {

namespace detail {

/// ValueError: a callable without a name cannot be in a configuration, because nothing could read it back.
HORNGATE_API void refuse_nameless(const char* class_name);

/// A function with the name or configuration that files have for it.
template <class Self, class Result, class... Arguments>
class Named {
 public:
  using Call = std::function<Result(Arguments...)>;

  Named() = default;
  /// A callable with the configuration that files get: a name, or {"class_name": .., "config": ..}.
  template <std::same_as<Json> J>
  Named(J config, Call call)
      : shared_(std::make_shared<const Shared>(Shared{std::move(config), std::move(call)})) {}
  explicit operator bool() const { return shared_ != nullptr; }
  Result operator()(Arguments... arguments) const { return shared_->call(arguments...); }
  /// A name, or {"class_name": .., "config": ..}; null for none. ValueError for a callable without a name.
  Json config() const {
    if (is_nameless()) refuse_nameless(Self::kClassName);
    return shared_ ? shared_->config : Json();
  }
  /// Whether it is a callable without a name: a model with one runs, but cannot be saved.
  bool is_nameless() const { return shared_ && shared_->config.is_null(); }

 private:
  struct Shared {
    Json config;
    Call call;
  };
  std::shared_ptr<const Shared> shared_;
};

}  // namespace detail

/// A function of one tensor: "relu", or [](const K::Tensor& x) { return x * K::sigmoid(x); }. Saved models hold
/// callables by their names: keras::ActivationFunction("my_swish", f), and load_model takes them from
/// LoadOptions::custom_activations.
class HORNGATE_API ActivationFunction
    : public detail::Named<ActivationFunction, Tensor, const Tensor&> {
 public:
  static constexpr const char* kClassName = "ActivationFunction";
  using Named::Named;
  ActivationFunction() = default;  // none, which is "linear"
  ActivationFunction(const char* name);
  ActivationFunction(const std::string& name) : ActivationFunction(name.c_str()) {}
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const Tensor&>
  ActivationFunction(F call) : Named(Json(), std::move(call)) {}
  /// A callable with a name, which files have. Not one of Keras's names.
  ActivationFunction(const std::string& name, Call call);
  /// From a configuration.
  static ActivationFunction from(const Json& config, const std::string& where);
};

/// First values of a weight, by its shape: "glorot_uniform", keras::RandomNormal({.stddev = 0.1}), or a callable, with
/// a name if the model is to be saved: keras::Initializer("ramp", f), and LoadOptions::custom_initializers.
class HORNGATE_API Initializer : public detail::Named<Initializer, Array, const Shape&, DType> {
 public:
  static constexpr const char* kClassName = "Initializer";
  using Named::Named;
  Initializer() = default;
  Initializer(const char* name);
  Initializer(const std::string& name) : Initializer(name.c_str()) {}
  template <class F>
    requires std::is_invocable_r_v<Array, const F&, const Shape&, DType>
  Initializer(F call) : Named(Json(), std::move(call)) {}
  /// A callable with a name, which files have. Not one of Keras's names.
  Initializer(const std::string& name, Call call);
  static Initializer from(const Json& config, const std::string& where);
};

/// A loss of a weight or an activity: "l2", keras::l1(0.01), or a callable, with a name if the model is to be saved:
/// keras::Regularizer("cubes", f), and LoadOptions::custom_regularizers.
class HORNGATE_API Regularizer : public detail::Named<Regularizer, Tensor, const Tensor&> {
 public:
  static constexpr const char* kClassName = "Regularizer";
  using Named::Named;
  Regularizer() = default;
  Regularizer(const char* name);
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const Tensor&>
  Regularizer(F call) : Named(Json(), std::move(call)) {}
  /// A callable with a name, which files have. Not one of Keras's names.
  Regularizer(const std::string& name, Call call);
  static Regularizer from(const Json& config, const std::string& where);
};

/// What a weight must be after each step of an optimizer: "non_neg", keras::MaxNorm({.max_value = 3}), or a callable,
/// with a name if the model is to be saved: keras::WeightConstraint("halved", f), and LoadOptions::custom_constraints.
class HORNGATE_API WeightConstraint
    : public detail::Named<WeightConstraint, Tensor, const Tensor&> {
 public:
  static constexpr const char* kClassName = "WeightConstraint";
  using Named::Named;
  WeightConstraint() = default;
  WeightConstraint(const char* name);
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const Tensor&>
  WeightConstraint(F call) : Named(Json(), std::move(call)) {}
  /// A callable with a name, which files have. Not one of Keras's names.
  WeightConstraint(const std::string& name, Call call);
  static WeightConstraint from(const Json& config, const std::string& where);
};

/// N numbers, or one for all of them: {.strides = 2}, {.strides = {2, 1}}.
template <size_t N>
class Sizes : public std::array<int64_t, N> {
 public:
  template <std::integral T>
  Sizes(T all) {
    this->fill(static_cast<int64_t>(all));
  }
  template <std::integral... T>
    requires(sizeof...(T) == N && N > 1)
  Sizes(T... each) : std::array<int64_t, N>{static_cast<int64_t>(each)...} {}
  Sizes(const std::array<int64_t, N>& each) : std::array<int64_t, N>(each) {}
};

/// Sizes that may be left open: {.strides = {}}.
template <size_t N>
class SizesOption : public std::optional<Sizes<N>> {
 public:
  SizesOption() = default;
  SizesOption(const Sizes<N>& sizes) : std::optional<Sizes<N>>(sizes) {}
  template <std::integral... T>
    requires(sizeof...(T) == N || sizeof...(T) == 1)
  SizesOption(T... each) : std::optional<Sizes<N>>(Sizes<N>(each...)) {}
};

/// For layers with N spatial axes: series are channels_last unless told otherwise.
template <size_t N>
DataFormatChoice default_data_format() {
  return N == 1 ? DataFormatChoice(DataFormat::channels_last) : DataFormatChoice();
}

/// All zeros.
HORNGATE_API Initializer Zeros();
/// All ones.
HORNGATE_API Initializer Ones();
/// One number.
HORNGATE_API Initializer Constant(double value = 0);

struct RandomNormalInitializerOptions {
  double mean = 0.0;
  double stddev = 0.05;
  std::optional<int64_t> seed = {};
};
HORNGATE_API Initializer RandomNormal(const RandomNormalInitializerOptions& options = {});
/// Values more than two standard deviations away are drawn again.
HORNGATE_API Initializer TruncatedNormal(const RandomNormalInitializerOptions& options = {});

struct RandomUniformInitializerOptions {
  double minval = -0.05;
  double maxval = 0.05;
  std::optional<int64_t> seed = {};
};
HORNGATE_API Initializer RandomUniform(const RandomUniformInitializerOptions& options = {});

struct VarianceScalingOptions {
  double scale = 1.0;
  std::string mode = "fan_in";          // "fan_in", "fan_out", "fan_avg"
  std::string distribution = "normal";  // "normal", "uniform"
  std::optional<int64_t> seed = {};
};
/// Scaled to the number of connections.
HORNGATE_API Initializer VarianceScaling(const VarianceScalingOptions& options = {});
/// A random orthogonal matrix, times gain.
HORNGATE_API Initializer Orthogonal(double gain = 1.0, std::optional<int64_t> seed = {});
/// The identity matrix, times gain.
HORNGATE_API Initializer Identity(double gain = 1.0);

HORNGATE_API Initializer lecun_uniform(std::optional<int64_t> seed = {});
HORNGATE_API Initializer lecun_normal(std::optional<int64_t> seed = {});
HORNGATE_API Initializer glorot_uniform(std::optional<int64_t> seed = {});
HORNGATE_API Initializer glorot_normal(std::optional<int64_t> seed = {});
HORNGATE_API Initializer he_uniform(std::optional<int64_t> seed = {});
HORNGATE_API Initializer he_normal(std::optional<int64_t> seed = {});

/// l1 * sum |x| + l2 * sum x^2
HORNGATE_API Regularizer L1L2(double l1 = 0.0, double l2 = 0.0);
HORNGATE_API Regularizer l1(double l = 0.01);
HORNGATE_API Regularizer l2(double l = 0.01);
HORNGATE_API Regularizer l1_l2(double l1 = 0.01, double l2 = 0.01);

struct MaxNormOptions {
  double max_value = 2;
  Axis axis = 0;
};
/// Norms along an axis are at most max_value.
HORNGATE_API WeightConstraint MaxNorm(const MaxNormOptions& options = {});
/// Negative values become 0.
HORNGATE_API WeightConstraint NonNeg();
/// Norms along an axis are 1.
HORNGATE_API WeightConstraint UnitNorm(const Axis& axis = 0);

struct MinMaxNormOptions {
  double min_value = 0.0;
  double max_value = 1.0;
  double rate = 1.0;
  Axis axis = 0;
};
/// Norms along an axis lie between two numbers.
HORNGATE_API WeightConstraint MinMaxNorm(const MinMaxNormOptions& options = {});

}  // namespace horngate::keras
