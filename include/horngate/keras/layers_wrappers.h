// Layers around layers: TimeDistributed, Bidirectional.
#pragma once

#include "horngate/keras/layer.h"
#include "horngate/keras/layers_core.h"

namespace horngate::keras {

/// Applies a layer to each time step of (samples, time, ..).
/// Example: auto y = keras::TimeDistributed(keras::Dense(8))(x);
[[nodiscard]] HORNGATE_API Layer TimeDistributed(const Layer& layer,
                                                 const PlainOptions& options = {});

struct BidirectionalOptions {
  std::optional<std::string> merge_mode = "concat";  // "sum", "mul", "ave"; nullopt: two results
  Arrays weights = {};  // first values: of the layer, then of the one that goes the other way
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// A recurrent layer and a second one like it that goes the other way. States to begin with (call_with_state) are those
/// of both, one after the other.
/// Example: auto y = keras::Bidirectional(keras::LSTM(32), {.merge_mode = "sum"})(x);
[[nodiscard]] HORNGATE_API Layer Bidirectional(const Layer& layer,
                                               const BidirectionalOptions& options = {});

}  // namespace horngate::keras
