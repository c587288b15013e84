// Embedding: vectors for numbers.
#pragma once

#include "horngate/keras/layer.h"

namespace horngate::keras {

/// One size, several (None where it is open), or unset: {.input_length = 10}, {.input_length = {K::None, 5}}.
class LengthOption {
 public:
  LengthOption() = default;
  template <std::integral T>  // Ints{length} is a vector of zeros for clang, in a template
  LengthOption(T length) : lengths_(Shape(Ints(1, static_cast<int64_t>(length)))), single_(true) {}
  LengthOption(std::initializer_list<Dim> lengths) : lengths_(Shape(lengths)) {}
  LengthOption(Shape lengths) : lengths_(std::move(lengths)) {}
  explicit operator bool() const { return lengths_.has_value(); }
  const Shape& operator*() const { return *lengths_; }
  bool is_single() const { return single_; }

 private:
  std::optional<Shape> lengths_;
  bool single_ = false;
};

struct EmbeddingOptions {
  Initializer embeddings_initializer = "uniform";
  Regularizer embeddings_regularizer = {};
  Regularizer activity_regularizer = {};
  WeightConstraint embeddings_constraint = {};
  bool mask_zero = false;  // 0 stands for nothing: layers after it leave it out
  LengthOption input_length = {};
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// A vector of output_dim numbers for each integer in [0, input_dim).
/// Example: auto y = keras::Embedding(10000, 64, {.mask_zero = true})(words);
[[nodiscard]] HORNGATE_API Layer Embedding(int64_t input_dim, int64_t output_dim,
                                           const EmbeddingOptions& options = {});

}  // namespace horngate::keras
