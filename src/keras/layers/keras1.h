// Configurations of Keras 1.
#pragma once

#include "keras/layers/body_of.h"

namespace horngate::keras {

/// The configuration with the names of Keras 2; equal if it has them already.
Json with_new_names(const Json& config);

/// The same for a layer of any class, whose options of Keras 1 are not those of another one.
Json of_keras_1(const std::string& class_name, const Json& config);

/// For the table: a layer from a configuration of Keras 1 or 2.
template <class B>
std::shared_ptr<Body> make_from_any(const Json& config, const LoadContext& context) {
  return make_from<B>(with_new_names(config), context);
}

}  // namespace horngate::keras
