// Runs a layer or model that Python describes: case_runner CASE.json RESULT.json. The case has "model" (class_name and
// config), "weights", "batches" of inputs, floatx, whether to be in the training phase, and a seed or null; the result what C++
// makes of it: outputs, gradients of sum(output^2) by inputs and trained weights, losses, of all batches in a row; the
// configuration, weights and their names.
#include "arrays.h"
#include "keras/network.h"
#include "keras/node.h"

namespace {

namespace K = horngate;
using namespace horngate::keras;
using namespace horngate::keras::tools;

/// Layer by layer, as Keras orders those of a model.
std::vector<Weight> weights_of(const Network& network) {
  std::vector<Weight> all;
  for (const auto& layer : network.layers())
    for (const Weight& w : layer->weights()) all.push_back(w);
  return all;
}

Json run(const Json& test) {
  if (const Json& seed = test.at("seed", "case"); !seed.is_null())
    K::set_random_seed(static_cast<uint64_t>(seed.as_int("seed")));
  K::DType floatx{};
  from_json(test.at("floatx", "case"), floatx, "floatx");
  K::set_floatx(floatx);
  const CustomLayers none;
  const auto body = layer_from(test.at("model", "case"), {none});
  auto network = std::dynamic_pointer_cast<Network>(body);
  if (!network) throw K::ValueError("case: model must be a Model or a Sequential.");
  const Layer model(body);
  const std::vector<Weight> weights = weights_of(*network);
  const Json::List& values = test.at("weights", "case").as_list("weights");
  if (values.size() != weights.size())
    throw K::ValueError("case: " + std::to_string(weights.size()) + " weights, not " +
                        std::to_string(values.size()));
  auto value = values.begin();
  auto weight = weights.begin();
  for (const auto& layer : network->layers()) {
    K::Arrays arrays;
    for (size_t n = layer->weights().size(); n > 0; --n) arrays.push_back(array_from(*value++));
    for (const K::Array& a : convert_rnn_weights(Layer(layer), arrays))
      K::set_value((weight++)->variable, a);
  }

  K::Tensors inputs(network->inputs().begin(), network->inputs().end());
  K::Tensors outputs(network->outputs().begin(), network->outputs().end());
  const size_t n_outputs = outputs.size();
  K::Tensors masks;
  Json::List unmasked;
  for (const Value& y : network->outputs()) {
    unmasked.push_back(!y.mask().defined());
    if (y.mask().defined()) masks.push_back(K::cast(y.mask(), K::DType::float32));
  }
  K::Tensor loss;
  for (const K::Tensor& y : outputs) {
    const K::Tensor part = K::sum(K::square(y));
    loss = loss.defined() ? loss + part : part;
  }
  K::Tensors wanted = inputs;
  for (const Weight& w : model.trainable_weights()) wanted.push_back(w.variable);
  Json::List missing;
  for (const K::Tensor& g : K::gradients(loss, wanted)) {
    missing.push_back(!g.defined());
    if (g.defined()) outputs.push_back(g);
  }
  const size_t n_with_gradients = outputs.size();
  std::vector<K::Update> updates;
  const bool training = test.at("training", "case").as_bool("training");
  for (const auto& node : network->nodes()) {
    for (const K::Update& u : node->state_updates) updates.push_back(u);
    if (training)
      for (const OwnedUpdate& u : node->updates)
        if (happens(u)) updates.push_back(u.update);
    for (const K::Tensor& l : node->losses) outputs.push_back(l);
  }
  for (const K::Tensor& l : body->weight_losses()) outputs.push_back(l);
  const size_t n_with_losses = outputs.size();
  outputs.insert(outputs.end(), masks.begin(), masks.end());
  inputs.push_back(K::learning_phase());
  const K::Function f = K::function(inputs, outputs, updates);
  Json::List of_outputs, of_gradients, of_losses, of_masks;
  for (const Json& batch : test.at("batches", "case").as_list("batches")) {
    K::Arrays fed;
    for (const Json& x : batch.as_list("batch")) fed.push_back(array_from(x));
    fed.push_back(K::Array(training ? 1.0f : 0.0f));
    const K::Arrays results = f(fed);
    for (size_t i = 0; i < results.size(); ++i)
      (i < n_outputs          ? of_outputs
       : i < n_with_gradients ? of_gradients
       : i < n_with_losses    ? of_losses
                              : of_masks)
          .push_back(array_to(results[i]));
  }

  Json result;
  result.set("outputs", of_outputs);
  result.set("without_gradient", missing);
  result.set("gradients", of_gradients);
  result.set("losses", of_losses);
  result.set("masks", of_masks);
  result.set("unmasked", unmasked);
  Json::List after, names;
  for (const Weight& w : weights) {
    after.push_back(array_to(K::get_value(w.variable)));
    names.push_back(w.name);
  }
  result.set("weights_after", after);
  result.set("weight_names", names);
  result.set("config", body->full_config());
  return result;
}

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, run); }
