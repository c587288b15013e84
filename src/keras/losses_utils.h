// Weights of samples, and reductions: what losses and metrics share.
#pragma once

#include "horngate/keras/losses.h"

namespace horngate::keras {

struct Squeezed {
  Tensor y_pred, y_true, sample_weight;
};
/// Takes away or adds a last axis of size 1 where ranks differ by one. y_true and sample_weight may be empty.
Squeezed squeeze_or_expand_dimensions(Tensor y_pred, Tensor y_true, Tensor sample_weight);
/// sample_weight in the shape of values.
Tensor broadcast_weights(const Tensor& values, Tensor sample_weight);
/// sample_weight * losses, reduced. An empty sample_weight is 1.
Tensor compute_weighted_loss(const Tensor& losses, const Tensor& sample_weight,
                             Reduction reduction = Reduction::sum_over_batch_size);
Tensor reduce_weighted_loss(const Tensor& weighted_losses, Reduction reduction);

/// What functions of losses can be told.
struct LossArguments {
  bool from_logits = false;
  double label_smoothing = 0;
  double delta = 1;
  int64_t axis = -1;
};
using LossFunction = Tensor (*)(const Tensor& y_true, const Tensor& y_pred, const LossArguments& a);
/// A function of losses by its Keras name or an alias, and that name without aliases; null for none.
struct FoundLoss {
  const char* name = nullptr;
  LossFunction call = nullptr;
};
FoundLoss find_loss(const std::string& name);

/// A number of the type floatx.
Tensor float_constant(double value);

}  // namespace horngate::keras
