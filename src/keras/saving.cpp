// Files of models: save, load_model, save_weights, load_weights.
#include "horngate/keras/saving.h"

#include <algorithm>
#include <cstdio>

#include "files/hdf5_reader.h"
#include "files/hdf5_writer.h"
#include "files/safetensors.h"
#include "keras/convert_weights.h"
#include "keras/custom.h"
#include "keras/fields.h"
#include "keras/network.h"
#include "keras/no_initializers.h"
#include "keras/saved_weights.h"
#include "keras/trainer.h"

namespace horngate::keras {
namespace {

using namespace files;

// Keras flips kernels when one of two backends is theano and the other is not; ours does not flip.
constexpr const char* kBackend = "tensorflow";

Bytes bytes_of(const Array& a) { return {static_cast<const std::byte*>(a.raw()), a.nbytes()}; }

/// Names of weights as files have them: "dense_1/kernel:0", each once.
std::vector<std::string> names_of(const std::vector<Weight>& weights) {
  std::vector<std::string> names;
  for (const Weight& w : weights) {
    std::string name = w.name + ":0";
    for (int i = 1; std::find(names.begin(), names.end(), name) != names.end(); ++i)
      name = w.name + "_" + std::to_string(i) + ":0";
    names.push_back(name);
  }
  return names;
}

/// The values of weights in this order: of a model inside of another it is not that of get_weights.
Arrays values_of(const std::vector<Weight>& weights) {
  std::vector<Variable> variables;
  for (const Weight& w : weights) variables.push_back(w.variable);
  return batch_get_value(variables);
}

/// Weights layer by layer, also of models inside: their order when no layer trains.
void add_all(const Network& network, std::vector<Weight>& to) {
  for (const auto& layer : network.layers()) {
    if (const auto* inner = dynamic_cast<const Network*>(layer.get())) {
      add_all(*inner, to);
      continue;
    }
    for (const Weight& w : layer->weights()) to.push_back(w);
  }
}

/// The order in which Keras reads them. Of a frozen model files say that none of its layers trains, so it is that of such
/// layers, which need not be weights().
std::vector<Weight> in_file_order(const Body& layer) {
  const auto* network = dynamic_cast<const Network*>(&layer);
  if (!network) return layer.weights();
  std::vector<Weight> result;
  if (!network->trainable()) {
    add_all(*network, result);
    return result;
  }
  result = network->trainable_weights();
  for (const auto& part : network->layers()) {
    const std::vector<Weight> all = in_file_order(*part);
    const auto trained = static_cast<ptrdiff_t>(part->trainable_weights().size());
    result.insert(result.end(), all.begin() + trained, all.end());
  }
  return result;
}

/// The arrays that files are written from, which must live until then.
using Held = std::vector<Arrays>;

void write_weights(hdf5::GroupWriter& group, const Model& model, Held& held) {
  const Layers layers = model.layers();
  std::vector<std::string> names;
  for (const Layer& layer : layers) names.push_back(layer.name());
  write_names(group, "layer_names", names);
  group.set_text("backend", kBackend);
  group.set_text("keras_version", keras_version_for(model.body()));
  for (const Layer& layer : layers) {
    hdf5::GroupWriter& to = group.group(layer.name());
    const std::vector<Weight> weights = in_file_order(layer.body());
    const std::vector<std::string> weight_names = names_of(weights);
    write_names(to, "weight_names", weight_names);
    held.push_back(values_of(weights));
    for (size_t i = 0; i < weight_names.size(); ++i) {
      Array& a = held.back()[i] = held.back()[i].contiguous();
      to.set_data(weight_names[i], a.dtype(), a.dims(), bytes_of(a));
    }
  }
}

template <class T, class F>
Json per_output(const PerOutput<T>& given, const F& config) {
  if (const T* one = given.one()) return config(*one);
  if (const auto* each = given.each()) {
    Json::List list;
    for (const T& item : *each) list.push_back(config(item));
    return list;
  }
  if (const auto* named = given.named()) {
    Json object = Json::Object();
    for (const auto& [name, item] : *named) object.set(name, config(item));
    return object;
  }
  return {};
}

Json metrics_config(const MetricChoices& choices) {
  const auto list_of = [](const MetricChoices::List& list) {
    Json::List result;
    for (const Metric& metric : list) result.push_back(metric.config());
    return result;
  };
  if (!choices.each().empty()) {
    Json::List each;
    for (const MetricChoices::List& list : choices.each()) each.push_back(list_of(list));
    return each;
  }
  if (choices.named().empty()) return list_of(choices.all());
  Json object;
  for (const auto& [name, list] : choices.named()) object.set(name, list_of(list));
  return object;
}

Json training_config(const CompileOptions& o) {
  Json config;
  config.set("optimizer_config", o.optimizer.config());
  config.set("loss", per_output(o.loss, [](const Loss& loss) { return loss.config(); }));
  config.set("metrics", metrics_config(o.metrics));
  const Json weighted = metrics_config(o.weighted_metrics);
  config.set("weighted_metrics", weighted == Json(Json::List()) ? Json() : weighted);
  config.set("sample_weight_mode", per_output(o.sample_weight_mode, [](const std::string& mode) {
               return mode.empty() ? Json() : Json(mode);
             }));
  config.set("loss_weights",
             per_output(o.loss_weights, [](double weight) { return Json(weight); }));
  return config;
}

/// From what training_config holds for each output.
template <class T, class F>
PerOutput<T> read_per_output(const Json* j, const F& read) {
  if (!j || j->is_null()) return {};
  if (j->is_list()) {
    std::vector<T> each;
    for (const Json& item : j->as_list("")) each.push_back(read(item));
    return each;
  }
  if (j->is_object() && !j->find("class_name")) {
    std::map<std::string, T> named;
    for (const auto& [name, item] : j->as_object("")) named.emplace(name, read(item));
    return named;
  }
  return read(*j);
}

MetricChoices read_metrics(const Json* j, const std::string& where) {
  if (!j || j->is_null()) return {};
  const auto one = [&](const Json& item) {
    if (item.is_null())
      throw ValueError(
          where +
          ": a callable was saved without a name; load it with compile = false, or save it as "
          "keras::Metric(\"name\", f).");
    return Metric::from(item, where);
  };
  const auto list_of = [&](const Json& item) {
    MetricChoices::List list;
    if (!item.is_list()) return MetricChoices::List{one(item)};
    for (const Json& choice : item.as_list(where)) list.push_back(one(choice));
    return list;
  };
  // tf.keras has a list, or null, for each output; Keras 2.3.1 reads both.
  if (j->is_list() && std::ranges::any_of(j->as_list(where), &Json::is_list)) {
    std::vector<MetricChoices::List> each;
    for (const Json& list : j->as_list(where))
      each.push_back(list.is_null() ? MetricChoices::List() : list_of(list));
    return each;
  }
  if (!j->is_object() || j->find("class_name")) return list_of(*j);
  MetricChoices::Named named;
  for (const auto& [name, item] : j->as_object(where)) named.emplace(name, list_of(item));
  return named;
}

CompileOptions read_training(const Json& config, const std::string& where) {
  CompileOptions o;
  o.optimizer = Optimizer::from(config.at("optimizer_config", where), where);
  o.loss = read_per_output<Loss>(config.find("loss"),
                                 [&](const Json& j) { return Loss::from(j, where); });
  o.metrics = read_metrics(config.find("metrics"), where + ": metrics");
  o.weighted_metrics = read_metrics(config.find("weighted_metrics"), where + ": weighted_metrics");
  o.loss_weights = read_per_output<double>(config.find("loss_weights"), [&](const Json& j) {
    return j.as_number(where + ": loss_weights");
  });
  o.sample_weight_mode =
      read_per_output<std::string>(config.find("sample_weight_mode"), [&](const Json& j) {
        return j.is_null() ? std::string() : j.as_string(where + ": sample_weight_mode");
      });
  return o;
}

/// The state of an optimizer. Since 2.11 tf.keras has it weight by weight, "Adam/m/dense/kernel:0" beside
/// "Adam/v/dense/kernel:0", all others one kind after the other.
Arrays read_state(const hdf5::Group& group) {
  const std::vector<std::string> names = read_names(group, "weight_names");
  const bool is_by_weight = !names.empty() && names[0] == "iteration:0";
  std::vector<std::pair<std::string, Arrays>> kinds;
  for (const std::string& name : names) {
    if (is_by_weight && name == "learning_rate:0") continue;
    const size_t begin = name.find('/');
    const std::string kind = is_by_weight && begin != std::string::npos
                                 ? name.substr(begin, name.find('/', begin + 1) - begin)
                                 : "";
    auto found = std::ranges::find(kinds, kind, &std::pair<std::string, Arrays>::first);
    if (found == kinds.end()) found = kinds.insert(kinds.end(), {kind, {}});
    found->second.push_back(read_array(group.dataset(name)));
  }
  Arrays state;
  for (const auto& [kind, arrays] : kinds) state.insert(state.end(), arrays.begin(), arrays.end());
  return state;
}

bool is_safetensors(const std::string& path) { return path.ends_with(".safetensors"); }

void save_safetensors(const std::string& path, const Layers& layers) {
  Held held;
  std::vector<safetensors::Input> tensors;
  Json::List order;
  for (const Layer& layer : layers) {
    const std::vector<Weight> weights = layer.weights();
    const std::vector<std::string> names = names_of(weights);
    held.push_back(values_of(weights));
    Json entry;
    entry.set("name", layer.name());
    entry.set("weights", to_json(names));
    order.push_back(entry);
    for (size_t i = 0; i < names.size(); ++i) {
      Array& a = held.back()[i] = held.back()[i].contiguous();
      tensors.push_back({layer.name() + "|" + names[i], a.dtype(), a.dims(), bytes_of(a)});
    }
  }
  safetensors::save(path, std::move(tensors), {{"layers", Json(order).dump()}});
}

}  // namespace

void Model::save(const std::string& path, const SaveOptions& options) const {
  if (is_safetensors(path))
    throw ValueError("save: a whole model goes into a .h5 file; " + path +
                     " would hold weights alone: use save_weights.");
  hdf5::Writer file;
  Held held;
  file.root().set_text("keras_version", keras_version_for(body()));
  file.root().set_text("backend", kBackend);
  file.root().set_text("model_config",
                       class_config(class_name().c_str(), network().full_config()).dump());
  write_weights(file.root().group("model_weights"), *this, held);
  if (options.include_optimizer && is_compiled()) {
    file.root().set_text("training_config", training_config(compiled()).dump());
    const std::vector<Variable>& state = optimizer().weights();
    if (!state.empty()) {
      hdf5::GroupWriter& group = file.root().group("optimizer_weights");
      std::vector<std::string> names;
      held.push_back(optimizer().get_weights());
      for (size_t i = 0; i < state.size(); ++i) {
        Array& a = held.back()[i] = held.back()[i].contiguous();
        names.push_back("training/" + optimizer().class_name() + "/variable_" + std::to_string(i) +
                        ":0");
        group.set_data(names.back(), a.dtype(), a.dims(), bytes_of(a));
      }
      write_names(group, "weight_names", names);
    }
  }
  file.save(path);
}

void Model::save_weights(const std::string& path) const {
  if (is_safetensors(path)) return save_safetensors(path, layers());
  hdf5::Writer file;
  Held held;
  write_weights(file.root(), *this, held);
  file.save(path);
}

void Model::load_weights(const std::string& path, const LoadWeightsOptions& options) const {
  if (!network().has_graph())
    throw ValueError("load_weights: model " + name() +
                     " has no weights yet; give the first layer an input_shape.");
  SavedWeights saved;
  if (is_safetensors(path)) {
    saved = read_safetensors_weights(path);
  } else {
    const hdf5::Group root = hdf5::open(path);
    saved = read_h5_weights(path, root.has("model_weights") && !root.has_attribute("layer_names")
                                      ? root.group("model_weights")
                                      : root);
  }
  std::vector<std::pair<Variable, Array>> values;
  for (const auto& [variable, read] : match_weights(saved, network().layers(), options))
    values.emplace_back(variable, read());
  batch_set_value(values);
}

Model load_model(const std::string& path, const LoadOptions& options) {
  const CustomScope custom(options);
  const hdf5::Group root = hdf5::open(path);
  if (!root.has_attribute("model_config"))
    throw ValueError(
        path +
        ": has no model_config: weights alone, perhaps; make the model and use load_weights.");
  const std::string where = path + ": model_config";
  const Json config = Json::parse(root.attribute("model_config").text(), where);
  const SavedWeights saved = read_h5_weights(path, root.group("model_weights"));
  std::shared_ptr<Network> network;
  try {
    const NoInitializers scope(saved.elements());
    network = std::dynamic_pointer_cast<Network>(layer_from(
        config, {options.custom_layers, options.lambdas, is_tf_keras(saved.keras_version)}));
  } catch (const ValueError& e) {
    throw ValueError(where + ": " + e.what());
  } catch (const NotImplementedError& e) {
    throw NotImplementedError(where + ": " + e.what());
  }
  if (!network)
    throw ValueError(where + ": class_name must be Model or Sequential; got " +
                     config.at("class_name", where).dump() + ".");
  const Model model(network);
  for (const auto& [variable, read] : match_weights(saved, network->layers(), {}))
    set_value(variable, read());
  if (!options.compile || !root.has_attribute("training_config")) return model;

  const std::string training = path + ": training_config";
  const CompileOptions compiled =
      read_training(Json::parse(root.attribute("training_config").text(), training), training);
  try {
    model.compile(compiled);
  } catch (const ValueError& e) {
    throw ValueError(training + ": " + e.what());
  }
  if (!root.has("optimizer_weights")) return model;
  Arrays state = read_state(root.group("optimizer_weights"));
  if (saved.keras_version.starts_with("1"))
    state = state_of_keras_1(state, saved, network->layers());
  network->trainer().prepare();
  // Of a model inside of another Keras does not keep that it was frozen: then there are weights without a state.
  if (model.optimizer().body().completed(state).size() != model.optimizer().weights().size()) {
    std::fprintf(stderr,
                 "%s: optimizer_weights: the state of other weights; the optimizer begins anew.\n",
                 path.c_str());
    return model;
  }
  try {
    model.optimizer().set_weights(state);
  } catch (const ValueError& e) {
    throw ValueError(path + ": optimizer_weights: " + e.what());
  }
  return model;
}

}  // namespace horngate::keras
