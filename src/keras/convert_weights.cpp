#include "keras/convert_weights.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "horngate/function.h"
#include "horngate/keras/layers_recurrent.h"
#include "horngate/ops/shape.h"
#include "horngate/ops/variables.h"
#include "keras/nameless.h"

namespace horngate::keras {
namespace {

Array transposed(const Array& a, const Ints& order) {
  return eval(permute_dimensions(constant(a), order));
}

/// The kernel turned round along all axes but the last two: Theano's convolutions flip it.
Array flipped(const Array& kernel) {
  Ints axes;
  for (size_t i = 0; i + 2 < kernel.ndim(); ++i) axes.push_back(static_cast<int64_t>(i));
  return eval(reverse(constant(kernel), axes));
}

SavedWeight with_order(const SavedWeight& w, const Ints& order) {
  Ints dims;
  for (const int64_t axis : order) dims.push_back(w.dims[static_cast<size_t>(axis)]);
  return {w.name, dims, [read = w.read, order] { return transposed(read(), order); }};
}

/// Of several weights one, along the last axis: Keras 1 kept the gates of LSTM and GRU apart.
SavedWeight joined(const std::vector<SavedWeight>& all, std::initializer_list<size_t> numbers) {
  SavedWeight result{all[*numbers.begin()].name, all[*numbers.begin()].dims, {}};
  std::vector<std::function<Array()>> reads;
  int64_t last = 0;
  for (const size_t i : numbers) {
    reads.push_back(all[i].read);
    last += all[i].dims.empty() ? 0 : all[i].dims.back();
  }
  if (!result.dims.empty()) result.dims.back() = last;
  result.read = [reads] {
    Tensors parts;
    for (const auto& read : reads) parts.push_back(constant(read()));
    return eval(concatenate(parts));
  };
  return result;
}

bool is_convolution(const std::string& name) {
  return name == "Conv1D" || name == "Conv2D" || name == "Conv3D" || name == "Conv2DTranspose" ||
         name == "ConvLSTM2D";
}

void from_keras_1(Body& layer, std::vector<SavedWeight>& w) {
  const std::string name = layer.class_name();
  const NamelessAllowed scope;
  const Json config = layer.config();
  const bool is_first =
      config.find("data_format") && *config.find("data_format") == Json("channels_first");
  const auto order = [&w](const Ints& axes) {
    if (!w.empty() && w[0].dims.size() == axes.size()) w[0] = with_order(w[0], axes);
  };
  if (name == "Conv1D" && !w.empty() && w[0].dims.size() == 4) {
    const Shape wanted = layer.weights()[0].variable.shape();
    if (w[0].dims[0] != wanted.dim(0) || w[0].dims[1] != 1) order({2, 3, 1, 0});
    SavedWeight flat = w[0];
    flat.dims = {w[0].dims[0], w[0].dims[2], w[0].dims[3]};
    flat.read = [read = w[0].read, dims = flat.dims] { return read().contiguous().reshape(dims); };
    w[0] = flat;
  } else if (name == "Conv2D" && is_first) {
    order({2, 3, 1, 0});
  } else if (name == "Conv2DTranspose") {
    order(is_first ? Ints{2, 3, 0, 1} : Ints{0, 1, 3, 2});
  } else if (name == "Conv3D" && is_first) {
    order({2, 3, 4, 1, 0});
  } else if (name == "GRU" && w.size() == 9) {
    w = {joined(w, {0, 3, 6}), joined(w, {1, 4, 7}), joined(w, {2, 5, 8})};
  } else if ((name == "LSTM" || name == "ConvLSTM2D") && w.size() == 12) {
    for (SavedWeight& each : w)
      if (is_first && each.dims.size() == 4) each = with_order(each, {2, 3, 1, 0});
    w = {joined(w, {0, 6, 3, 9}), joined(w, {1, 7, 4, 10}), joined(w, {2, 8, 5, 11})};
  }
}

/// Of CuDNN's layers the bias has another size; all three come in another order.
void from_cudnn(Body& layer, std::vector<SavedWeight>& w) {
  const std::vector<Weight> wanted = layer.weights();
  if (w.size() != 3 || wanted.size() != 3 || Shape(w[2].dims) == wanted[2].variable.shape()) return;
  Arrays arrays;
  for (const SavedWeight& weight : w) arrays.push_back(weight.read());
  arrays = convert_rnn_weights(layer.class_name(), arrays);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = {w[i].name, arrays[i].dims(), [a = arrays[i]] { return a; }};
}

/// Whether files have the weights of its parts: cells of these are parts, but files have the weights of the layer.
bool is_made_of_parts(const Body& layer) {
  const std::string name = layer.class_name();
  const bool is_whole = name == "LSTM" || name == "GRU" || name == "CuDNNLSTM" ||
                        name == "CuDNNGRU" || name == "ConvLSTM2D";
  return !is_whole && !layer.parts().empty();
}

/// The layers that own weights, in layers that are made of others.
std::vector<std::shared_ptr<Body>> leaves_of(const Body& layer) {
  std::vector<std::shared_ptr<Body>> leaves;
  for (const auto& part : layer.parts()) {
    if (!is_made_of_parts(*part)) {
      leaves.push_back(part);
      continue;
    }
    const auto inner = leaves_of(*part);
    leaves.insert(leaves.end(), inner.begin(), inner.end());
  }
  return leaves;
}

/// Weights of inner layers, wherever they stand: at each depth what is trained comes first.
std::vector<SavedWeight> converted_leaves(Body& layer, std::vector<SavedWeight> weights,
                                          const std::string& keras_version,
                                          const std::string& backend) {
  std::unordered_map<const Node*, std::vector<size_t>> places;
  const std::vector<Weight> wanted = layer.weights();
  for (size_t i = 0; i < wanted.size(); ++i) places[wanted[i].variable.node()].push_back(i);
  for (const auto& leaf : leaves_of(layer)) {
    const std::vector<Weight> own = leaf->weights();
    std::vector<SavedWeight> mine;
    for (const Weight& w : own) mine.push_back(weights[places.at(w.variable.node()).front()]);
    mine = converted(*leaf, std::move(mine), keras_version, backend);
    for (size_t i = 0; i < own.size(); ++i)
      for (const size_t place : places.at(own[i].variable.node())) weights[place] = mine[i];
  }
  return weights;
}

/// Keras 1 kept the gates apart, unless told otherwise: then there are more weights. First what inner layers train, then the
/// rest.
std::vector<SavedWeight> joined_parts(Body& layer, const std::vector<SavedWeight>& weights,
                                      const std::string& keras_version,
                                      const std::string& backend) {
  std::vector<SavedWeight> result;
  size_t at = 0;
  const auto take = [&](Body& part, size_t n) {
    const std::string inner = part.class_name();
    if (n == 3 && (inner == "LSTM" || inner == "ConvLSTM2D")) n = 12;
    if (n == 3 && inner == "GRU") n = 9;
    n = std::min(n, weights.size() - at);
    const auto begin = weights.begin() + static_cast<ptrdiff_t>(at);
    for (SavedWeight& w :
         converted(part, {begin, begin + static_cast<ptrdiff_t>(n)}, keras_version, backend))
      result.push_back(std::move(w));
    at += n;
  };
  const std::vector<std::shared_ptr<Body>> parts = layer.parts();
  for (const auto& part : parts) take(*part, part->trainable_weights().size());
  for (const auto& part : parts) take(*part, part->non_trainable_weights().size());
  for (; at < weights.size(); ++at) result.push_back(weights[at]);
  return result;
}

}  // namespace

std::vector<SavedWeight> converted(Body& layer, std::vector<SavedWeight> weights,
                                   const std::string& keras_version, const std::string& backend) {
  if (is_made_of_parts(layer)) {
    if (weights.size() == layer.weights().size())
      return converted_leaves(layer, std::move(weights), keras_version, backend);
    if (keras_version.starts_with("1")) return joined_parts(layer, weights, keras_version, backend);
    return weights;
  }
  const std::string name = layer.class_name();
  const bool is_gated =
      name == "LSTM" || name == "GRU" || name == "CuDNNLSTM" || name == "CuDNNGRU";
  if (keras_version.starts_with("1")) from_keras_1(layer, weights);
  if (is_gated) from_cudnn(layer, weights);
  if (is_convolution(name) && backend == "theano") {
    const size_t kernels = name == "ConvLSTM2D" ? 2 : 1;
    for (size_t i = 0; i < std::min(kernels, weights.size()); ++i)
      weights[i].read = [read = weights[i].read] { return flipped(read()); };
  }
  return weights;
}

Arrays state_of_keras_1(const Arrays& state, const SavedWeights& saved,
                        const std::vector<std::shared_ptr<Body>>& layers) {
  struct Place {
    std::string name;
    size_t layer, weight;
  };
  if (state.empty()) return state;
  const std::vector<std::pair<const SavedLayer*, Body*>> pairs = pairs_of(saved, layers);
  std::vector<Place> trained;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto& [from, layer] = pairs[i];
    const size_t others = layer->non_trainable_weights().size();
    for (size_t k = 0; k + others < from->weights.size(); ++k)
      trained.push_back({from->weights[k].name, i, k});
  }
  std::ranges::sort(trained, {}, &Place::name);
  const size_t head = state[0].ndim() == 0 ? 1 : 0;
  if (trained.empty() || (state.size() - head) % trained.size() != 0) return state;
  Arrays result(state.begin(), state.begin() + static_cast<ptrdiff_t>(head));
  for (size_t begin = head; begin < state.size(); begin += trained.size()) {
    std::vector<std::vector<SavedWeight>> kind;
    for (const auto& [from, layer] : pairs) kind.push_back(from->weights);
    for (size_t i = 0; i < trained.size(); ++i) {
      const Array& value = state[begin + i];
      kind[trained[i].layer][trained[i].weight] = {trained[i].name, value.dims(),
                                                   [value] { return value; }};
    }
    for (size_t i = 0; i < pairs.size(); ++i) {
      Body& layer = *pairs[i].second;
      const auto now = converted(layer, kind[i], saved.keras_version, saved.backend);
      for (size_t k = 0; k < std::min(now.size(), layer.trainable_weights().size()); ++k)
        result.push_back(now[k].read());
    }
  }
  return result;
}

}  // namespace horngate::keras
