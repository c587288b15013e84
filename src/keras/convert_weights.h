// Weights of older editions and other backends, as layers want them today.
#pragma once

#include <string>
#include <vector>

#include "keras/saved_weights.h"

namespace horngate::keras {

std::vector<SavedWeight> converted(Body& layer, std::vector<SavedWeight> weights,
                                   const std::string& keras_version, const std::string& backend);

}  // namespace horngate::keras
