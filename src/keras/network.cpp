#include "keras/network.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "horngate/config.h"
#include "keras/layers/input.h"
#include "keras/node.h"
#include "keras/trainer.h"

namespace horngate::keras {
namespace {

using Node = Network::Node;

/// Nodes that the outputs need: order in which their walks end, and layers in the order in which they are met.
struct Walk {
  std::vector<Node> finished;
  std::unordered_map<const Body*, size_t> met;
};

/// Depth first, from the outputs to the inputs, without recursion.
Walk walk_from(const Values& outputs) {
  Walk walk;
  std::unordered_set<const CallNode*> seen;
  struct Frame {
    Node node;
    size_t next = 0;
  };
  std::vector<Frame> stack;
  const auto enter = [&](const Node& node) {
    if (!seen.insert(node.get()).second) return;
    walk.met.emplace(node->layer.get(), walk.met.size());
    stack.push_back({node});
  };
  for (const Value& output : outputs) {
    enter(output.node());
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next < frame.node->inputs.size()) {
        const Node node = frame.node->inputs[frame.next++].node();
        enter(node);
        continue;
      }
      walk.finished.push_back(std::move(frame.node));
      stack.pop_back();
    }
  }
  return walk;
}

}  // namespace

Network::Network() = default;
Network::~Network() = default;

Trainer& Network::trainer() {
  std::call_once(trainer_once_, [this] { trainer_ = std::make_unique<Trainer>(*this); });
  return *trainer_;
}

Network::Network(Values inputs, Values outputs)
    : inputs_(std::move(inputs)), outputs_(std::move(outputs)), is_sequential_(false) {
  if (inputs_.empty() || outputs_.empty())
    throw ValueError("Model: must have at least one input and one output; got " +
                     std::to_string(inputs_.size()) + " and " + std::to_string(outputs_.size()) +
                     ".");
  for (const Values* list : {&inputs_, &outputs_})
    for (const Value& v : *list)
      if (!v.node())
        throw TypeError(
            "Model: inputs and outputs must come from Input or from layers; wrap K functions in a "
            "Lambda.");
  for (const Value& v : inputs_)
    if (!dynamic_cast<InputBody*>(v.node()->layer.get()))
      throw ValueError("Model: inputs must come from Input; got a result of layer " +
                       v.node()->layer->name() + ".");
  map_graph();
}

// Files hold weights in the order of layers: by decreasing depth, those of one depth as the walk met them.
void Network::map_graph() {
  Walk walk = walk_from(outputs_);
  std::unordered_map<const CallNode*, int64_t> depth_of;
  std::unordered_map<const Body*, int64_t> depth_of_layer;
  nodes_.clear();
  const auto depth_at = [&](const Node& node) -> int64_t& {
    const auto [found, is_new] = depth_of.try_emplace(node.get(), 0);
    if (is_new) nodes_.push_back(node);  // those of one depth stay in this order
    return found->second;
  };
  for (size_t i = walk.finished.size(); i-- > 0;) {
    const Node& node = walk.finished[i];
    int64_t& of_layer = depth_of_layer[node->layer.get()];
    const int64_t depth = std::max(depth_at(node), of_layer);
    of_layer = depth;
    depth_at(node) = depth;
    for (const Value& input : node->inputs) {
      int64_t& before = depth_at(input.node());
      before = std::max(before, depth + 1);
    }
  }
  for (const Value& input : inputs_) {
    if (depth_of.contains(input.node().get())) continue;
    (void)depth_at(input.node());
    depth_of_layer[input.node()->layer.get()] = 0;
    walk.met.emplace(input.node()->layer.get(), 0);
  }
  std::stable_sort(nodes_.begin(), nodes_.end(), [&](const Node& a, const Node& b) {
    return depth_of[a.get()] > depth_of[b.get()];
  });
  layers_.clear();
  calls_.clear();
  for (const Node& node : nodes_) {
    std::vector<Node>& calls = calls_[node->layer.get()];
    if (calls.empty()) layers_.push_back(node->layer);
    calls.push_back(node);
  }
  for (auto& [layer, calls] : calls_)
    std::sort(calls.begin(), calls.end(),
              [](const Node& x, const Node& y) { return x->order < y->order; });
  std::stable_sort(layers_.begin(), layers_.end(), [&](const auto& a, const auto& b) {
    const int64_t x = depth_of_layer[a.get()], y = depth_of_layer[b.get()];
    return x != y ? x > y : walk.met[a.get()] < walk.met[b.get()];
  });

  std::unordered_set<const CallNode*> fed;
  for (const Value& input : inputs_) fed.insert(input.node().get());
  for (const Node& node : nodes_)
    if (node->inputs.empty() && !fed.contains(node.get()))
      throw ValueError("Model: an output needs " + node->layer->name() +
                       ", which is not among the inputs.");
  std::set<std::string> names;
  for (const auto& layer : layers_)
    if (!names.insert(layer->name()).second)
      throw ValueError("Model: names of layers must differ; got \"" + layer->name() + "\" twice.");
  if (is_sequential_)
    std::erase_if(layers_, [](const auto& l) { return dynamic_cast<InputBody*>(l.get()); });
}

std::unordered_map<const CallNode*, size_t> Network::call_numbers() const {
  std::unordered_map<const CallNode*, size_t> numbers;
  for (const auto& [layer, calls] : calls_) {
    size_t number = dynamic_cast<const Network*>(layer) ? 1 : 0;
    for (const Node& node : calls) numbers[node.get()] = number++;
  }
  return numbers;
}

std::vector<Update> Network::state_updates() const {
  std::vector<Update> updates;
  for (const Node& node : nodes_)
    updates.insert(updates.end(), node->state_updates.begin(), node->state_updates.end());
  return updates;
}

namespace {

std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const Value& v : values) names.push_back(v.node()->layer->name());
  return names;
}

}  // namespace

std::vector<std::string> Network::input_names() const { return names_of(inputs_); }
std::vector<std::string> Network::output_names() const { return names_of(outputs_); }

Tensors Network::call(Call& call) {
  if (!has_graph()) build_for(call.x().shape());
  if (call.inputs.size() != inputs_.size())
    throw ValueError(where() + "must have " + std::to_string(inputs_.size()) + " inputs; got " +
                     std::to_string(call.inputs.size()) + ".");
  struct Results {
    Tensors tensors, masks;
  };
  std::unordered_map<const CallNode*, Results> done;
  for (size_t i = 0; i < inputs_.size(); ++i)
    done[inputs_[i].node().get()] = {{call.inputs[i]}, {call.masks[i]}};
  for (const Node& node : nodes_) {
    if (done.contains(node.get())) continue;
    Call inner;
    for (const Value& v : node->inputs) {
      const Results& from = done.at(v.node().get());
      inner.inputs.push_back(from.tensors[v.index()]);
      inner.masks.push_back(from.masks[v.index()]);
    }
    const PhaseScope phase(node->options.training);
    Tensors outputs = node->layer->run(inner);
    Tensors masks = node->layer->compute_mask(inner.inputs, inner.masks);
    masks.resize(outputs.size());
    call.take(std::move(inner));
    done[node.get()] = {std::move(outputs), std::move(masks)};
  }
  Tensors results;
  last_masks_.clear();
  for (const Value& v : outputs_) {
    const Results& from = done.at(v.node().get());
    results.push_back(from.tensors[v.index()]);
    last_masks_.push_back(from.masks[v.index()]);
  }
  return results;
}

Tensors Network::compute_mask(const Tensors&, const Tensors&) { return last_masks_; }

std::vector<Weight> Network::non_trainable_weights() const {
  std::vector<Weight> result, others;
  for (const auto& layer : layers_) {
    if (!trainable())
      for (const Weight& w : layer->trainable_weights()) result.push_back(w);
    for (const Weight& w : layer->non_trainable_weights()) others.push_back(w);
  }
  result.insert(result.end(), others.begin(), others.end());
  return result;
}

std::vector<Weight> Network::ordered_weights() const {
  std::vector<Weight> result;
  for (const auto& layer : layers_)
    for (const Weight& w : layer->weights()) result.push_back(w);
  return result;
}

bool Network::is_stateful() const {
  return std::any_of(layers_.begin(), layers_.end(),
                     [](const auto& l) { return l->is_stateful(); });
}

void Network::reset_states() {
  for (const auto& layer : layers_)
    if (layer->is_stateful()) layer->reset_states();
}

void Network::add(const Layers& layers) {
  const bool had_graph = has_graph();
  for (const Layer& layer : layers) append(layer);
  if (!has_graph()) return;
  map_graph();
  if (had_graph) trainer().forget();
}

void Network::append(const Layer& layer) {
  const std::string& name = layer.name();  // an error if the handle holds none
  for (const auto& other : added_)
    if (other->name() == name)
      throw ValueError("add: names of layers must differ; got \"" + name + "\" twice.");
  const auto& body = layer.shared();
  if (has_graph()) {
    const Value y = layer(outputs_);
    added_.push_back(body);
    outputs_ = {y};
    return;
  }
  added_.push_back(body);
  if (added_.size() > 1) return;
  if (const auto* network = dynamic_cast<Network*>(body.get()); network && network->has_graph()) {
    if (network->inputs().size() != 1 || network->outputs().size() != 1)
      throw ValueError("add: a model in a Sequential must have one input and one output; got " +
                       layer.name() + ".");
    const Tensor& x = network->inputs()[0];
    inputs_ = {make_input({x.shape(), x.dtype()}, layer.name() + "_input")};
    outputs_ = {layer(inputs_)};
  } else if (body->layer_options().batch_input_shape) {
    build_for(*body->layer_options().batch_input_shape);
  } else if (expected_input_) {
    build_for(*expected_input_);
  }
}

void Network::build_for(const Shape& batch_input_shape) {
  if (added_.empty()) throw ValueError(where() + "a Sequential without layers cannot be built.");
  const DType dtype = added_[0]->dtype();
  Values inputs = {make_input({batch_input_shape, dtype}, added_[0]->name() + "_input")};
  Values outputs = inputs;
  for (const auto& layer : added_) outputs = {Layer(layer)(outputs)};
  inputs_ = inputs;
  outputs_ = outputs;
  map_graph();
}

}  // namespace horngate::keras
