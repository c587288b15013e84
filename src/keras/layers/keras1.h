// Configurations of Keras 1, of layers with spatial axes.
#pragma once

#include "keras/layers/body_of.h"

namespace horngate::keras {

/// The configuration with the names of Keras 2; equal if it has them already.
Json with_new_names(const Json& config);

/// For the table: a layer from a configuration of Keras 1 or 2.
template <class B>
std::shared_ptr<Body> make_from_any(const Json& config, const LoadContext& context) {
  return make_from<B>(with_new_names(config), context);
}

}  // namespace horngate::keras
