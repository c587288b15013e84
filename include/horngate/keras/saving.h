// Files of models: .h5, as Keras 2.3.1 writes and reads them, and .safetensors.
#pragma once

#include <string>

#include "horngate/keras/model.h"

namespace horngate::keras {

struct LoadOptions {
  CustomLayers custom_layers = {};  // classes that are not Keras's own
  Lambdas lambdas = {};             // functions of Lambda layers, by the names of layers
  std::map<std::string, Loss> custom_losses = {};
  std::map<std::string, Metric> custom_metrics = {};
  bool compile = true;  // as the file says, with the optimizer's state
};

/// The model of a .h5 file: structure, weights and, if it was saved with them, how it is trained and the optimizer's
/// state. Nothing of the file is run. ValueError names file and place.
/// Example: auto net = keras::load_model("net.h5");
[[nodiscard]] HORNGATE_API Model load_model(const std::string& path,
                                            const LoadOptions& options = {});

}  // namespace horngate::keras
