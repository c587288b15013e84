// Noise while training: GaussianNoise, GaussianDropout, AlphaDropout.
#pragma once

#include "horngate/keras/layers_core.h"

namespace horngate::keras {

/// Adds normal noise.
[[nodiscard]] HORNGATE_API Layer GaussianNoise(double stddev, const PlainOptions& options = {});

/// Multiplies by normal noise around 1, with standard deviation sqrt(rate / (1 - rate)).
[[nodiscard]] HORNGATE_API Layer GaussianDropout(double rate, const PlainOptions& options = {});

struct AlphaDropoutOptions {
  std::optional<Shape> noise_shape = {};
  std::optional<int64_t> seed = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Dropout that keeps mean and variance, for nets with "selu".
[[nodiscard]] HORNGATE_API Layer AlphaDropout(double rate, const AlphaDropoutOptions& options = {});

}  // namespace horngate::keras
