// Layers that take several inputs: Add, Concatenate, Dot and others.
#pragma once

#include "horngate/keras/layers_core.h"

namespace horngate::keras {

/// a + b + ..; inputs of fewer axes get axes of size 1 after the samples.
/// Example: auto y = keras::Add()({a, b});
[[nodiscard]] HORNGATE_API Layer Add(const PlainOptions& options = {});
/// a - b
[[nodiscard]] HORNGATE_API Layer Subtract(const PlainOptions& options = {});
/// a * b * ..
[[nodiscard]] HORNGATE_API Layer Multiply(const PlainOptions& options = {});
/// (a + b + ..) / n
[[nodiscard]] HORNGATE_API Layer Average(const PlainOptions& options = {});
/// The largest, element by element.
[[nodiscard]] HORNGATE_API Layer Maximum(const PlainOptions& options = {});
/// The smallest, element by element.
[[nodiscard]] HORNGATE_API Layer Minimum(const PlainOptions& options = {});

struct ConcatenateOptions {
  int64_t axis = -1;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// One after the other along an axis.
/// Example: auto y = keras::Concatenate()({a, b});
[[nodiscard]] HORNGATE_API Layer Concatenate(const ConcatenateOptions& options = {});

struct DotOptions {
  bool normalize = false;  // divide by lengths first: the cosine of the angle
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Sums of products along an axis of both inputs, or one of each: Dot({2, 1}).
/// Example: auto y = keras::Dot(1)({a, b});
[[nodiscard]] HORNGATE_API Layer Dot(const Axis& axes, const DotOptions& options = {});

}  // namespace horngate::keras
