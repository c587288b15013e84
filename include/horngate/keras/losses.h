// Losses: what training makes small. Given by its Keras name, as an object of keras::losses, or as a callable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "horngate/keras/json.h"
#include "horngate/tensor.h"

namespace horngate::keras {

/// What becomes of the losses of the samples.
enum class Reduction : uint8_t { none, sum, sum_over_batch_size };
/// "none", "sum", "sum_over_batch_size"
HORNGATE_API const char* reduction_name(Reduction reduction);

/// A loss of predictions: "mse", keras::losses::Huber({.delta = 2}), or
/// [](const K::Tensor& y_true, const K::Tensor& y_pred) { return K::square(y_true - y_pred); }.
class HORNGATE_API Loss {
 public:
  using Call = std::function<Tensor(const Tensor& y_true, const Tensor& y_pred)>;
  struct Shared {
    Json config;           // a name, or {"class_name": .., "config": ..}
    std::string name;      // "mean_squared_error"
    std::string function;  // Keras's function: "mean_squared_error"; empty for callables
    Reduction reduction = Reduction::sum_over_batch_size;
    Call call;
  };

  Loss() = default;  // none
  Loss(const char* name);
  Loss(const std::string& name) : Loss(name.c_str()) {}
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const Tensor&, const Tensor&>
  Loss(F loss) : Loss(std::string(), std::move(loss)) {}
  /// A callable with a name, which histories and files have.
  Loss(const std::string& name, Call loss, Reduction reduction = Reduction::sum_over_batch_size);
  explicit Loss(Shared shared) : shared_(std::make_shared<const Shared>(std::move(shared))) {}

  explicit operator bool() const { return shared_ != nullptr; }
  /// The loss of each sample: the shape of y_pred without its last axis, as a rule.
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const;
  /// Weighted and reduced. An empty sample_weight counts all samples the same.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) const;
  const std::string& name() const;
  /// Keras's function behind it, whatever it was called: "mean_squared_error"; empty for callables.
  const std::string& function() const;
  Reduction reduction() const;
  /// As files have it: a name, or {"class_name": .., "config": ..}, "loss" for a callable without one; null for none.
  Json config() const { return shared_ ? shared_->config : Json(); }
  /// From a configuration.
  static Loss from(const Json& config, const std::string& where);

 private:
  const Shared& shared() const;
  std::shared_ptr<const Shared> shared_;
};

namespace losses {

struct Options {
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};  // unset: that of the function
};
/// mean (y_pred - y_true)^2
HORNGATE_API Loss MeanSquaredError(const Options& options = {});
/// mean |y_pred - y_true|
HORNGATE_API Loss MeanAbsoluteError(const Options& options = {});
/// 100 * mean |(y_true - y_pred) / y_true|
HORNGATE_API Loss MeanAbsolutePercentageError(const Options& options = {});
/// mean (log(y_pred + 1) - log(y_true + 1))^2
HORNGATE_API Loss MeanSquaredLogarithmicError(const Options& options = {});

struct CrossentropyOptions {
  bool from_logits = false;    // y_pred is the argument of sigmoid or softmax, not its result
  double label_smoothing = 0;  // in [0, 1]: how far labels move towards each other
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};
};
/// Of labels 0 and 1.
HORNGATE_API Loss BinaryCrossentropy(const CrossentropyOptions& options = {});
/// Of one-hot labels.
HORNGATE_API Loss CategoricalCrossentropy(const CrossentropyOptions& options = {});

struct SparseCrossentropyOptions {
  bool from_logits = false;
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};
};
/// Of labels that are numbers of classes.
HORNGATE_API Loss SparseCategoricalCrossentropy(const SparseCrossentropyOptions& options = {});

/// mean max(1 - y_true * y_pred, 0), of labels -1 and 1, or 0 and 1
HORNGATE_API Loss Hinge(const Options& options = {});
/// mean max(1 - y_true * y_pred, 0)^2
HORNGATE_API Loss SquaredHinge(const Options& options = {});
/// max(max((1 - y_true) * y_pred) - sum(y_true * y_pred) + 1, 0)
HORNGATE_API Loss CategoricalHinge(const Options& options = {});
/// mean (y_pred - y_true * log(y_pred))
HORNGATE_API Loss Poisson(const Options& options = {});
/// mean log(cosh(y_pred - y_true))
HORNGATE_API Loss LogCosh(const Options& options = {});
/// sum y_true * log(y_true / y_pred)
HORNGATE_API Loss KLDivergence(const Options& options = {});

struct CosineSimilarityOptions {
  int64_t axis = -1;
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};
};
/// -cos of the angle between y_true and y_pred. A class of tf.keras; Keras 2.3.1 has the function only.
HORNGATE_API Loss CosineSimilarity(const CosineSimilarityOptions& options = {});

struct HuberOptions {
  double delta = 1.0;  // where the square ends
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name = {};
};
/// Square for small errors, absolute for large ones.
HORNGATE_API Loss Huber(const HuberOptions& options = {});

}  // namespace losses

}  // namespace horngate::keras
