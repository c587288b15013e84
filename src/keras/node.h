// Keeping calls of layers.
#pragma once

#include <algorithm>

#include "horngate/keras/layer.h"
#include "horngate/ops/control.h"

namespace horngate::keras {

/// Makes the node of a call that is done; the values that it gave.
Values keep_call(const std::shared_ptr<Body>& layer, const Values& inputs, Call& call,
                 Tensors outputs, Tensors masks);

/// Calls of layers while it lives are in this phase, if one is given.
class PhaseScope {
 public:
  explicit PhaseScope(std::optional<bool> training) : is_set_(training.has_value()) {
    if (!is_set_) return;
    before_ = fixed_learning_phase();
    set_learning_phase(*training);
  }
  PhaseScope(const PhaseScope&) = delete;
  ~PhaseScope() {
    if (!is_set_) return;
    if (before_)
      set_learning_phase(*before_);
    else
      reset_learning_phase();
  }

 private:
  bool is_set_;
  std::optional<bool> before_;
};

/// Whether training steps do it: all layers that it is part of are trainable.
inline bool happens(const OwnedUpdate& update) {
  return std::all_of(update.owners.begin(), update.owners.end(),
                     [](const Body* b) { return b->trainable(); });
}

/// The shapes of values or tensors.
template <class T>
Shapes shapes_of(const std::vector<T>& tensors) {
  Shapes shapes;
  for (const Tensor& t : tensors) shapes.push_back(t.shape());
  return shapes;
}

}  // namespace horngate::keras
