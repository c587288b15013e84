#include "keras/losses_utils.h"

#include "horngate/horngate.h"

namespace horngate::keras {

Tensor float_constant(double value) { return constant(Array(value).cast(floatx())); }

Squeezed squeeze_or_expand_dimensions(Tensor y_pred, Tensor y_true, Tensor sample_weight) {
  const auto last_is_one = [](const Tensor& x) {
    const Dim last = x.shape()[x.ndim() - 1];
    return last.known() && last.value() == 1;
  };
  if (y_true.defined()) {
    if (y_pred.ndim() == y_true.ndim() + 1 && last_is_one(y_pred))
      y_pred = squeeze(y_pred, -1);
    else if (y_true.ndim() == y_pred.ndim() + 1 && last_is_one(y_true))
      y_true = squeeze(y_true, -1);
  }
  if (!sample_weight.defined() || sample_weight.ndim() == 0) return {y_pred, y_true, sample_weight};
  const size_t values = y_pred.ndim(), weights = sample_weight.ndim();
  if (values == 0 && weights == 1)
    y_pred = expand_dims(y_pred, -1);
  else if (weights == values + 1)
    sample_weight = squeeze(sample_weight, -1);
  else if (values == weights + 1)
    sample_weight = expand_dims(sample_weight, -1);
  return {y_pred, y_true, sample_weight};
}

Tensor broadcast_weights(const Tensor& values, Tensor sample_weight) {
  const Shape wanted = values.shape(), given = sample_weight.shape();
  if (wanted == given) return sample_weight;
  const auto fail = [&] {
    throw ValueError("loss: sample_weight must have the shape of the values, " + wanted.str() +
                     ", or its first axes; got " + given.str() + ".");
  };
  if (given.ndim() > wanted.ndim()) fail();
  for (size_t i = given.ndim(); i < wanted.ndim(); ++i)
    sample_weight = expand_dims(sample_weight, static_cast<int64_t>(i));
  for (size_t i = 0; i < given.ndim(); ++i) {
    const Dim w = given[i], v = wanted[i];
    if (!w.known() || !v.known() || w.value() == v.value()) continue;
    if (w.value() != 1) fail();
    sample_weight = repeat_elements(sample_weight, v.value(), static_cast<int64_t>(i));
  }
  return sample_weight;
}

Tensor reduce_weighted_loss(const Tensor& weighted_losses, Reduction reduction) {
  if (reduction == Reduction::none) return weighted_losses;
  const Tensor loss = sum(weighted_losses);
  if (reduction == Reduction::sum) return loss;
  return loss / cast(size(weighted_losses), weighted_losses.dtype());
}

Tensor compute_weighted_loss(const Tensor& losses, const Tensor& sample_weight,
                             Reduction reduction) {
  const Tensor weight =
      sample_weight.defined() ? cast(sample_weight, floatx()) : float_constant(1.0);
  const Squeezed s = squeeze_or_expand_dimensions(cast(losses, floatx()), {}, weight);
  const Tensor weighted = broadcast_weights(s.y_pred, s.sample_weight) * s.y_pred;
  return cast(reduce_weighted_loss(weighted, reduction), losses.dtype());
}

}  // namespace horngate::keras
