// Activations with options, as layers: LeakyReLU, PReLU, ELU, ThresholdedReLU, Softmax, ReLU.
#pragma once

#include "horngate/keras/layer.h"

namespace horngate::keras {

struct LeakyReLUOptions {
  double alpha = 0.3;  // slope of the negative part
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// x where it is positive, alpha * x elsewhere.
[[nodiscard]] HORNGATE_API Layer LeakyReLU(const LeakyReLUOptions& options = {});

struct PReLUOptions {
  Initializer alpha_initializer = "zeros";
  Regularizer alpha_regularizer = {};
  WeightConstraint alpha_constraint = {};
  std::optional<Ints> shared_axes = {};  // counted from 1, without samples: one slope along each
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// LeakyReLU whose slopes are learnt.
[[nodiscard]] HORNGATE_API Layer PReLU(const PReLUOptions& options = {});

struct ELUOptions {
  double alpha = 1.0;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// x where it is positive, alpha * (exp(x) - 1) elsewhere.
[[nodiscard]] HORNGATE_API Layer ELU(const ELUOptions& options = {});

struct ThresholdedReLUOptions {
  double theta = 1.0;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// x where it is above theta, 0 elsewhere.
[[nodiscard]] HORNGATE_API Layer ThresholdedReLU(const ThresholdedReLUOptions& options = {});

struct SoftmaxOptions {
  int64_t axis = -1;  // inputs of two axes: always the last
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// exp(x) / sum(exp(x))
[[nodiscard]] HORNGATE_API Layer Softmax(const SoftmaxOptions& options = {});

struct ReLUOptions {
  std::optional<double> max_value = {};  // unset: none
  double negative_slope = 0.0;
  double threshold = 0.0;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// max(x, 0), with limits.
[[nodiscard]] HORNGATE_API Layer ReLU(const ReLUOptions& options = {});

}  // namespace horngate::keras
