// Weights of older editions and other backends, as layers want them today.
#pragma once

#include <string>
#include <vector>

#include "keras/saved_weights.h"

namespace horngate::keras {

std::vector<SavedWeight> converted(Body& layer, std::vector<SavedWeight> weights,
                                   const std::string& keras_version, const std::string& backend);

/// The state of an optimizer in the order and form of our weights: Keras 1 sorted weights by their names. What does not
/// look like it comes back as it is.
Arrays state_of_keras_1(const Arrays& state, const SavedWeights& saved,
                        const std::vector<std::shared_ptr<Body>>& layers);

}  // namespace horngate::keras
