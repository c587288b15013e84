// Keeping calls of layers.
#pragma once

#include <algorithm>

#include "horngate/keras/layer.h"

namespace horngate::keras {

/// Makes the node of a call that is done; the values that it gave.
Values keep_call(const std::shared_ptr<Body>& layer, const Values& inputs, Call& call,
                 Tensors outputs, Tensors masks);

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
