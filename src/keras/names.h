// Small things that several files of the library need.
#pragma once

#include <string>

namespace horngate::keras {

/// "BatchNormalization" -> "batch_normalization", "Conv2D" -> "conv2d", as Keras names layers.
std::string snake_case(const std::string& name);

}  // namespace horngate::keras
