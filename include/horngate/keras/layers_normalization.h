// BatchNormalization.
#pragma once

#include "horngate/keras/layer.h"

namespace horngate::keras {

struct BatchNormalizationLayerOptions {
  int64_t axis = -1;  // that of the features
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;  // with beta
  bool scale = true;   // with gamma
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Initializer moving_mean_initializer = "zeros";
  Initializer moving_variance_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  WeightConstraint beta_constraint = {};
  WeightConstraint gamma_constraint = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Mean 0 and variance 1 for each feature: of the batch while training, of moving averages otherwise.
/// Example: auto y = keras::BatchNormalization({.axis = 1})(x);
[[nodiscard]] HORNGATE_API Layer
BatchNormalization(const BatchNormalizationLayerOptions& options = {});

}  // namespace horngate::keras
