// Optimizers: how training changes weights. By name or as an object: "adam", keras::Adam({.learning_rate = 1e-4}).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "horngate/function.h"
#include "horngate/keras/json.h"
#include "horngate/tensor.h"

namespace horngate::keras {

/// What an optimizer does; derive from it to write one.
class HORNGATE_API OptimizerBody {
 public:
  OptimizerBody() = default;
  OptimizerBody(const OptimizerBody&) = delete;
  virtual ~OptimizerBody();

  /// As files name it.
  virtual std::string class_name() const = 0;
  /// One step for these weights. Makes the state, and lists it in weights().
  virtual std::vector<Update> get_updates(const Tensor& loss,
                                          const std::vector<Variable>& params) = 0;
  /// Its options, as Keras writes them.
  virtual Json config() const = 0;
  /// Values for weights(); those of older files may be fewer.
  virtual Arrays completed(Arrays values) const { return values; }
  /// Empty if there is none.
  virtual Variable learning_rate() const { return {}; }
  const std::vector<Variable>& weights() const { return weights_; }

 protected:
  /// Gradients; ValueError with the name of a weight that has none.
  Tensors gradients_of(const Tensor& loss, const std::vector<Variable>& params) const;
  /// The state that files keep, in their order.
  std::vector<Variable> weights_;
};

/// An optimizer: copies are the same one, and share its state.
class HORNGATE_API Optimizer {
 public:
  Optimizer() = default;  // none
  Optimizer(const char* name);
  Optimizer(const std::string& name) : Optimizer(name.c_str()) {}
  explicit Optimizer(std::shared_ptr<OptimizerBody> body) : body_(std::move(body)) {}

  /// The updates of one training step, for K::function. Each call begins with a new state.
  /// Example: auto train = K::function({x, y}, {loss}, optimizer.get_updates(loss, {w, b}));
  std::vector<Update> get_updates(const Tensor& loss, const std::vector<Variable>& params) const;
  /// Its state in the order of files: the number of steps, then moments; empty before get_updates.
  const std::vector<Variable>& weights() const { return body().weights(); }
  Arrays get_weights() const;
  /// As many, in the same order and shapes; ValueError otherwise, and nothing has changed.
  void set_weights(const Arrays& values) const;
  /// A variable that can be set at any time: K::set_value(optimizer.learning_rate(), 1e-4f).
  Variable learning_rate() const { return body().learning_rate(); }
  std::string class_name() const { return body().class_name(); }
  /// {"class_name": .., "config": ..}, as files have it; null for none.
  Json config() const;
  /// From a name or such a configuration.
  static Optimizer from(const Json& config, const std::string& where);

  explicit operator bool() const { return body_ != nullptr; }
  OptimizerBody& body() const;
  const std::shared_ptr<OptimizerBody>& shared() const { return body_; }

 private:
  std::shared_ptr<OptimizerBody> body_;
};

/// The common last fields of each optimizer's options.
#define HORNGATE_KERAS_OPTIMIZER_OPTIONS                                                    \
  std::optional<double> clipnorm =                                                          \
      {}; /* gradients together are at most so long; unset or 0: no */                      \
  std::optional<double> clipvalue = {}; /* each number of a gradient is at most so large */ \
  std::string name = {};                /* of its variables; unset: that of the class */

struct SGDOptions {
  double learning_rate = 0.01;
  double momentum = 0.0;
  bool nesterov = false;
  double decay = 0.0;  // the rate is divided by 1 + decay * steps
  HORNGATE_KERAS_OPTIMIZER_OPTIONS
};
/// Steps against the gradient, with momentum if wanted.
/// Example: keras::SGD({.learning_rate = 0.1, .momentum = 0.9})
[[nodiscard]] HORNGATE_API Optimizer SGD(const SGDOptions& options = {});

struct RMSpropOptions {
  double learning_rate = 0.001;
  double rho = 0.9;
  double decay = 0.0;
  std::optional<double> epsilon = {};  // unset: K::epsilon()
  HORNGATE_KERAS_OPTIMIZER_OPTIONS
};
/// Divides gradients by a running average of their sizes.
[[nodiscard]] HORNGATE_API Optimizer RMSprop(const RMSpropOptions& options = {});

struct AdagradOptions {
  double learning_rate = 0.01;
  double decay = 0.0;
  std::optional<double> epsilon = {};
  HORNGATE_KERAS_OPTIMIZER_OPTIONS
};
/// Divides gradients by the size of all earlier ones.
[[nodiscard]] HORNGATE_API Optimizer Adagrad(const AdagradOptions& options = {});

struct AdadeltaOptions {
  double learning_rate = 1.0;
  double rho = 0.95;
  double decay = 0.0;
  std::optional<double> epsilon = {};
  HORNGATE_KERAS_OPTIMIZER_OPTIONS
};
/// Adagrad over a moving window.
[[nodiscard]] HORNGATE_API Optimizer Adadelta(const AdadeltaOptions& options = {});

struct AdamOptions {
  double learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  bool amsgrad = false;
  double decay = 0.0;
  std::optional<double> epsilon = {};
  HORNGATE_KERAS_OPTIMIZER_OPTIONS
};
/// Running averages of gradients and of their squares.
[[nodiscard]] HORNGATE_API Optimizer Adam(const AdamOptions& options = {});

struct AdamaxOptions {
  double learning_rate = 0.002;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double decay = 0.0;
  std::optional<double> epsilon = {};
  HORNGATE_KERAS_OPTIMIZER_OPTIONS
};
/// Adam with the largest gradient instead of the average of squares.
[[nodiscard]] HORNGATE_API Optimizer Adamax(const AdamaxOptions& options = {});

struct NadamOptions {
  double learning_rate = 0.002;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double schedule_decay = 0.004;
  std::optional<double> epsilon = {};
  HORNGATE_KERAS_OPTIMIZER_OPTIONS
};
/// Adam with Nesterov's momentum.
[[nodiscard]] HORNGATE_API Optimizer Nadam(const NadamOptions& options = {});

}  // namespace horngate::keras
