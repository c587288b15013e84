// Files of models: save, load_model, save_weights, load_weights.
#include "horngate/keras/saving.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

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
constexpr const char* kState = "optimizer_weights";

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

/// A file of safetensors to write.
struct SafetensorsDraft {
  std::vector<safetensors::Input> tensors = {};
  safetensors::Metadata metadata = {};
  Held held = {};

  /// Values under their names, with a text before them.
  void add(const std::string& before, const std::vector<std::string>& names, Arrays values) {
    held.push_back(std::move(values));
    for (size_t i = 0; i < names.size(); ++i) {
      Array& a = held.back()[i] = held.back()[i].contiguous();
      tensors.push_back({before + "|" + names[i], a.dtype(), a.dims(), bytes_of(a)});
    }
  }
  template <class F>
  void add_layers(const Layers& layers, const F& weights_of) {
    Json::List order;
    for (const Layer& layer : layers) {
      const std::vector<Weight> weights = weights_of(layer.body());
      const std::vector<std::string> names = names_of(weights);
      Json entry;
      entry.set("name", layer.name());
      entry.set("weights", to_json(names));
      order.push_back(entry);
      add(layer.name(), names, values_of(weights));
    }
    metadata["layers"] = Json(order).dump();
  }
};

/// The optimizer's state as files name it; empty before the first step.
std::vector<std::string> state_names(const Optimizer& optimizer) {
  std::vector<std::string> names;
  for (size_t i = 0; i < optimizer.weights().size(); ++i)
    names.push_back("training/" + optimizer.class_name() + "/variable_" + std::to_string(i) + ":0");
  return names;
}

/// What files of both kinds have about a model, by their names.
std::vector<std::pair<const char*, std::string>> texts_of(const Model& model, bool with_training) {
  std::vector<std::pair<const char*, std::string>> texts = {
      {"keras_version", keras_version_for(model.body())},
      {"backend", kBackend},
      {"model_config",
       class_config(model.class_name().c_str(), model.network().full_config()).dump()}};
  if (with_training)
    texts.emplace_back("training_config", training_config(model.compiled()).dump());
  return texts;
}

void save_h5(const std::string& path, const Model& model, bool with_training) {
  hdf5::Writer file;
  Held held;
  for (const auto& [name, text] : texts_of(model, with_training)) file.root().set_text(name, text);
  write_weights(file.root().group("model_weights"), model, held);
  const auto names = with_training ? state_names(model.optimizer()) : std::vector<std::string>();
  if (!names.empty()) {
    hdf5::GroupWriter& group = file.root().group("optimizer_weights");
    held.push_back(model.optimizer().get_weights());
    for (size_t i = 0; i < names.size(); ++i) {
      Array& a = held.back()[i] = held.back()[i].contiguous();
      group.set_data(names[i], a.dtype(), a.dims(), bytes_of(a));
    }
    write_names(group, "weight_names", names);
  }
  file.save(path);
}

void save_safetensors(const std::string& path, const Model& model, bool with_training) {
  SafetensorsDraft file;
  for (const auto& [name, text] : texts_of(model, with_training)) file.metadata[name] = text;
  file.add_layers(model.layers(), in_file_order);
  const auto names = with_training ? state_names(model.optimizer()) : std::vector<std::string>();
  if (!names.empty()) {
    file.metadata[kState] = Json(to_json(names)).dump();
    file.add(kState, names, model.optimizer().get_weights());
  }
  safetensors::save(path, std::move(file.tensors), file.metadata);
}

/// A file of a whole model, of either kind.
struct SavedModel {
  std::optional<std::string> model_config = {}, training_config = {};
  SavedWeights weights = {};
  std::function<Arrays()> state = {};  // of the optimizer; empty if it has none
};

SavedModel read_h5(const std::string& path) {
  SavedModel saved;
  const hdf5::Group root = hdf5::open(path);
  const auto text = [&](const char* name, std::optional<std::string>& to) {
    if (root.has_attribute(name)) to = root.attribute(name).text();
  };
  text("model_config", saved.model_config), text("training_config", saved.training_config);
  if (!saved.model_config) return saved;
  saved.weights = read_h5_weights(path, root.group("model_weights"));
  if (root.has("optimizer_weights"))
    saved.state = [root] { return read_state(root.group("optimizer_weights")); };
  return saved;
}

SavedModel read_safetensors(const std::string& path) {
  SavedModel saved;
  const auto file = std::make_shared<SafetensorsFile>(path);
  const auto text = [&](const char* name, std::optional<std::string>& to) {
    if (const std::string* found = file->metadata(name)) to = *found;
  };
  text("model_config", saved.model_config), text("training_config", saved.training_config);
  if (!saved.model_config) return saved;
  saved.weights = file->weights();
  if (file->metadata(kState))
    saved.state = [file] {
      Arrays state;
      for (const SavedWeight& part : file->list(kState)) state.push_back(part.read());
      return state;
    };
  return saved;
}

}  // namespace

void Model::save(const std::string& path, const SaveOptions& options) const {
  const bool with_training = options.include_optimizer && is_compiled();
  if (is_safetensors(path)) return save_safetensors(path, *this, with_training);
  save_h5(path, *this, with_training);
}

void Model::save_weights(const std::string& path) const {
  if (is_safetensors(path)) {
    SafetensorsDraft file;
    file.add_layers(layers(), [](const Body& layer) { return layer.weights(); });
    return safetensors::save(path, std::move(file.tensors), file.metadata);
  }
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
  const SavedModel file = is_safetensors(path) ? read_safetensors(path) : read_h5(path);
  if (!file.model_config)
    throw ValueError(
        path +
        ": has no model_config: weights alone, perhaps; make the model and use load_weights.");
  const std::string where = path + ": model_config";
  const Json config = Json::parse(*file.model_config, where);
  const SavedWeights& saved = file.weights;
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
  if (!options.compile || !file.training_config) return model;

  const std::string training = path + ": training_config";
  const CompileOptions compiled =
      read_training(Json::parse(*file.training_config, training), training);
  try {
    model.compile(compiled);
  } catch (const ValueError& e) {
    throw ValueError(training + ": " + e.what());
  }
  if (!file.state) return model;
  Arrays state = file.state();
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
