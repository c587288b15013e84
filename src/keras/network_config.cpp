// Configurations of models: how layers are connected, in both directions.
#include <deque>
#include <map>

#include "horngate/config.h"
#include "keras/layers/input.h"
#include "keras/network.h"

namespace horngate::keras {
namespace {

/// The same with layers that do not train. Keras keeps no `trainable` of a model inside of another: its layers say it.
Json frozen(const Json& config) {
  Json::List layers;
  for (const Json& layer : config.at("layers", "Model").as_list("layers")) {
    const Json& inner = layer.at("config", "layer");
    Json now = inner;
    if (inner.find("layers"))
      now = frozen(inner);
    else if (!(layer.at("class_name", "layer") == Json("InputLayer")))
      now.set("trainable", false);
    layers.push_back(layer);
    layers.back().set("config", now);
  }
  Json result = config;
  result.set("layers", layers);
  return result;
}

/// The configuration of a layer inside of a model.
Json config_inside(const Body& layer) {
  const bool is_frozen = dynamic_cast<const Network*>(&layer) && !layer.trainable();
  return is_frozen ? frozen(layer.full_config()) : layer.full_config();
}

Json described(const Body& layer) {
  return class_config(layer.class_name().c_str(), config_inside(layer));
}

}  // namespace

Json Network::full_config() const { return config(); }

Json Network::config() const { return is_sequential_ ? sequential_config() : functional_config(); }

Json Network::sequential_config() const {
  Json config;
  config.set("name", name());
  Json::List layers;
  for (const auto& layer : added_)
    if (!dynamic_cast<InputBody*>(layer.get())) layers.push_back(described(*layer));
  config.set("layers", layers);
  if (has_graph() && !added_.empty() && !added_[0]->layer_options().batch_input_shape &&
      !dynamic_cast<Network*>(added_[0].get()))
    config.set("build_input_shape", to_json(inputs_[0].shape()));
  return config;
}

Json Network::functional_config() const {
  const auto number_of = call_numbers();
  const auto place = [&](const Value& v) {
    return Json::List{v.node()->layer->name(), number_of.at(v.node().get()), v.index()};
  };
  Json::List layers;
  for (const auto& layer : layers_) {
    Json::List calls;
    for (const Node& node : nodes_of(*layer)) {
      Json::List from;
      for (const Value& input : node->inputs) {
        Json::List entry = place(input);
        Json options = Json::Object();
        if (const auto& training = node->options.training) options.set("training", *training);
        entry.push_back(options);
        from.push_back(entry);
      }
      if (!from.empty()) calls.push_back(from);
    }
    Json entry;
    entry.set("name", layer->name());
    entry.set("class_name", layer->class_name());
    entry.set("config", config_inside(*layer));
    entry.set("inbound_nodes", calls);
    layers.push_back(std::move(entry));
  }
  const auto places = [&](const Values& values) {
    Json::List list;
    for (const Value& v : values) list.push_back(place(v));
    return list;
  };
  Json config;
  config.set("name", name());
  config.set("layers", layers);
  config.set("input_layers", places(inputs_));
  config.set("output_layers", places(outputs_));
  return config;
}

namespace {

/// Whether a Sequential begins with a Merge of models, as only Keras 1 has it.
bool begins_with_models(const Json::List& layers) {
  return !layers.empty() && layers[0].at("class_name", "layer") == Json("Merge") &&
         layers[0].at("config", "Merge").find("layers");
}

/// Such a Sequential as a graph: the layers of the models, the Merge, the rest.
std::shared_ptr<Network> joined_models(const Json::List& layers, const LoadContext& context) {
  Values inputs, ends;
  for (const Json& description :
       layers[0].at("config", "Merge").at("layers", "Merge").as_list("Merge: layers")) {
    const auto body = layer_from(description, context);
    const auto* model = dynamic_cast<const Network*>(body.get());
    if (!model || !model->has_graph() || model->outputs().size() != 1)
      throw ValueError("Merge: layers must be models of one output that know their inputs; got " +
                       body->name() + ".");
    inputs.insert(inputs.end(), model->inputs().begin(), model->inputs().end());
    ends.push_back(model->outputs()[0]);
  }
  for (const Json& description : layers) ends = {Layer(layer_from(description, context))(ends)};
  return std::make_shared<Network>(inputs, ends);
}

}  // namespace

std::shared_ptr<Network> Network::sequential_from_config(const Json& config,
                                                         const LoadContext& context) {
  auto network = std::make_shared<Network>();
  // Until Keras 2.1 the configuration was the list of layers.
  LayerOptions options;
  const Json* layers = &config;
  if (config.is_object()) {
    if (const Json* name = config.find("name")) options.name = name->as_string("Sequential: name");
    layers = &config.at("layers", "Sequential");
  }
  const Json::List& descriptions = layers->as_list("Sequential: layers");
  if (begins_with_models(descriptions)) network = joined_models(descriptions, context);
  network->set_options(options);
  if (!network->is_sequential()) return network;
  Layers added;
  for (const Json& description : descriptions) {
    // tf.keras lists the InputLayer; here the first layer knows the shape.
    if (description.at("class_name", "layer") == Json("InputLayer")) {
      const Json& input = description.at("config", "InputLayer");
      Shape shape;
      from_json(input.at("batch_input_shape", "InputLayer"), shape,
                "InputLayer: batch_input_shape");
      network->expected_input_ = shape;
      continue;
    }
    added.emplace_back(layer_from(description, context));
  }
  network->add(added);
  if (network->has_graph()) return network;
  if (const Json* shape = config.find("build_input_shape"); shape && !shape->is_null()) {
    Shape s;
    from_json(*shape, s, "Sequential: build_input_shape");
    network->build_for(s);
  }
  return network;
}

namespace {

/// Makes the calls of a model again. A call whose inputs are not there yet waits for the next round: layers may call
/// each other in turn, A(B(A(B(x)))).
class Connector {
 public:
  Connector(const Json& config, const LoadContext& context) {
    for (const Json& entry : config.at("layers", "Model").as_list("Model: layers"))
      make(entry, context);
    while (!waiting_.empty()) {
      bool moved = false;
      for (auto& [name, calls] : waiting_)
        while (!calls.empty() && connect(name, calls.front())) calls.pop_front(), moved = true;
      std::erase_if(waiting_, [](const auto& entry) { return entry.second.empty(); });
      if (!moved && !waiting_.empty())
        throw ValueError("Model: layer " + waiting_[0].first +
                         " needs results that no layer gives.");
    }
  }

  Values values(const Json& places) {
    Values result;
    // tf.keras writes one place without a list around it.
    const Json::List& list = places.as_list("Model: places");
    if (!list.empty() && list[0].is_string()) return {at(places)};
    for (const Json& place : list) result.push_back(at(place));
    return result;
  }

 private:
  void make(const Json& entry, const LoadContext& context) {
    const std::string& name = entry.at("name", "layer").as_string("layer: name");
    if (layers_.contains(name))
      throw ValueError("Model: names of layers must differ; got \"" + name + "\" twice.");
    const std::string& class_name = entry.at("class_name", name).as_string(name);
    if (class_name == "InputLayer") {
      const Json& c = entry.at("config", name);
      InputArguments a{.dtype = floatx()};
      Reader reader{c, name};
      reader.required("batch_input_shape", a.batch_input_shape);
      std::optional<DType> dtype;
      reader("dtype", dtype);
      a.dtype = dtype.value_or(floatx());
      std::optional<bool> sparse;
      reader("sparse", sparse);
      a.sparse = sparse.value_or(false);
      const Value value = make_input(a, name);
      layers_[name] = Layer(value.node()->layer);
      results_[name].push_back({value});
      return;
    }
    const Layer layer(layer_from(entry, context));
    layers_[name] = layer;
    // A model's own graph counts as its first call.
    if (const auto* network = dynamic_cast<Network*>(&layer.body()))
      results_[name].push_back(network->outputs());
    std::deque<const Json*> calls;
    for (const Json& call : entry.at("inbound_nodes", name).as_list(name + ": inbound_nodes"))
      calls.push_back(&call);
    if (!calls.empty()) waiting_.emplace_back(name, std::move(calls));
  }

  const Values* find(const Json& place) const {
    const Json::List& p = place.as_list("inbound_nodes");
    if (p.size() < 3)
      throw ValueError("Model: inbound_nodes must have name, node and tensor; got " + place.dump() +
                       ".");
    const auto layer = results_.find(p[0].as_string("inbound_nodes: name"));
    const int64_t node = p[1].as_int("inbound_nodes: node");
    if (!layers_.contains(p[0].as_string("")))
      throw ValueError("Model: inbound_nodes name a layer \"" + p[0].as_string("") +
                       "\" that is not there.");
    if (node < 0)
      throw ValueError("Model: inbound_nodes must count from 0; got " + place.dump() + ".");
    if (layer == results_.end() || static_cast<size_t>(node) >= layer->second.size())
      return nullptr;
    return &layer->second[static_cast<size_t>(node)];
  }
  static const Value& pick(const Values& from, const Json& place) {
    const int64_t index = place.as_list("")[2].as_int("inbound_nodes: tensor");
    if (index < 0 || static_cast<size_t>(index) >= from.size())
      throw ValueError("Model: " + place.dump() +
                       " asks for a result that the layer does not have.");
    return from[static_cast<size_t>(index)];
  }
  Value at(const Json& place) const {
    const Values* from = find(place);
    if (!from) throw ValueError("Model: " + place.dump() + " is not there.");
    return pick(*from, place);
  }

  bool connect(const std::string& name, const Json* call) {
    Values inputs;
    CallOptions options;
    for (const Json& place : call->as_list(name + ": inbound_nodes")) {
      const Values* from = find(place);
      if (!from) return false;
      inputs.push_back(pick(*from, place));
      if (const Json::List& p = place.as_list(name); p.size() > 3) read(p[3], name, options);
    }
    results_[name].push_back(layers_.at(name).call_all(inputs, options));
    return true;
  }

  /// Arguments of a call besides its inputs.
  static void read(const Json& arguments, const std::string& name, CallOptions& options) {
    for (const auto& [key, value] : arguments.as_object(name + ": inbound_nodes")) {
      if (value.is_null()) continue;
      if (key != "training")
        throw ValueError("Model: layer " + name + " is called with " + key +
                         ", which cannot be taken from a file; of arguments training alone can.");
      from_json(value, options.training, name + ": training");
    }
  }

  std::map<std::string, Layer> layers_;
  std::map<std::string, std::vector<Values>> results_;  // of each call
  std::vector<std::pair<std::string, std::deque<const Json*>>> waiting_;
};

}  // namespace

std::shared_ptr<Network> Network::from_config(const Json& config, const LoadContext& context) {
  Connector connector(config, context);
  auto network = std::make_shared<Network>(connector.values(config.at("input_layers", "Model")),
                                           connector.values(config.at("output_layers", "Model")));
  LayerOptions options;
  if (const Json* name = config.find("name")) options.name = name->as_string("Model: name");
  network->set_options(options);
  return network;
}

}  // namespace horngate::keras
