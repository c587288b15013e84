// Small things that several files of the library need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace horngate::keras {

/// "BatchNormalization" -> "batch_normalization", "Conv2D" -> "conv2d", as Keras names layers.
std::string snake_case(const std::string& name);

/// "dense_1": for what the user gave no name.
std::string default_name(const std::string& class_name);

/// "Dense: units must be positive; got 0."
void check_positive(std::string_view who, std::string_view what, int64_t got);

/// "a, b, c", for errors that say what there is; `quote` stands around each.
template <class Names>
std::string listed(const Names& names, std::string_view quote = "") {
  std::string text;
  for (const auto& name : names) {
    if (!text.empty()) text += ", ";
    text.append(quote).append(name).append(quote);
  }
  return text;
}

}  // namespace horngate::keras
