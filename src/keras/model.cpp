#include "horngate/keras/model.h"

#include "keras/custom.h"
#include "keras/names.h"
#include "keras/network.h"
#include "keras/trainer.h"

namespace horngate::keras {
namespace {

std::shared_ptr<Network> made(const Values& inputs, const Values& outputs,
                              const ModelOptions& options) {
  auto network = std::make_shared<Network>(inputs, outputs);
  network->set_options({.name = options.name});
  return network;
}

std::shared_ptr<Network> empty(const ModelOptions& options) {
  auto network = std::make_shared<Network>();
  network->set_options({.name = options.name});
  return network;
}

}  // namespace

Model::Model(const Values& inputs, const Values& outputs, const ModelOptions& options)
    : Model(made(inputs, outputs, options)) {}
Model::Model(std::shared_ptr<Network> network) : Layer(std::move(network)) {}

Network& Model::network() const { return static_cast<Network&>(body()); }
Trainer& Model::trainer() const { return network().trainer(); }

Values Model::inputs() const { return network().inputs(); }
Values Model::outputs() const { return network().outputs(); }
std::vector<std::string> Model::input_names() const { return network().input_names(); }
std::vector<std::string> Model::output_names() const { return network().output_names(); }

Layers Model::layers() const {
  Layers result;
  for (const auto& layer : network().has_graph() ? network().layers() : network().added())
    result.emplace_back(layer);
  return result;
}

Layer Model::get_layer(std::string_view name) const {
  std::vector<std::string> known;
  for (const Layer& layer : layers()) {
    if (layer.name() == name) return layer;
    known.push_back(layer.name());
  }
  throw ValueError("get_layer: name must be one of " + listed(known) + "; got \"" +
                   std::string(name) + "\".");
}

void Model::compile(const CompileOptions& options) const { trainer().compile(options); }
bool Model::is_compiled() const { return trainer().is_compiled(); }
const CompileOptions& Model::compiled() const { return trainer().options(); }
std::vector<std::string> Model::metrics_names() const { return trainer().names(); }
void Model::add_loss(const Tensor& loss) const { trainer().add_loss(loss); }
void Model::reset_metrics() const { trainer().reset_metrics(); }
void Model::stop_training() const { trainer().stops = true; }

std::vector<double> Model::train_on_batch(const Data& x, const Data& y,
                                          const TrainOptions& o) const {
  Trainer& t = trainer();
  const Feeds feeds = t.standardize("train_on_batch", x, y, o.sample_weight, o.class_weight);
  std::vector<double> values = t.train(feeds);
  if (o.reset_metrics) t.reset_metrics();
  return values;
}

std::vector<double> Model::test_on_batch(const Data& x, const Data& y,
                                         const TrainOptions& o) const {
  Trainer& t = trainer();
  const Feeds feeds = t.standardize("test_on_batch", x, y, o.sample_weight, o.class_weight);
  std::vector<double> values = t.test(feeds);
  if (o.reset_metrics) t.reset_metrics();
  return values;
}

Arrays Model::predict_all_on_batch(const Data& x) const {
  return trainer().predict(trainer().standardize_inputs("predict_on_batch", x));
}

Array Model::predict_on_batch(const Data& x) const {
  return only("predict_on_batch", predict_all_on_batch(x));
}

Array Model::only(const char* function, const Arrays& results) const {
  if (results.size() == 1) return results[0];
  const std::string all = std::string(function).insert(std::string("predict").size(), "_all");
  throw ValueError(std::string(function) + ": model " + name() + " has " +
                   std::to_string(results.size()) + " outputs; use " + all + ".");
}

Sequential::Sequential(const ModelOptions& options) : Model(empty(options)) {}
Sequential::Sequential(std::initializer_list<Layer> layers, const ModelOptions& options)
    : Sequential(options) {
  network().add(layers);
}
void Sequential::add(const Layer& layer) const { network().add({layer}); }

std::string Model::to_json() const {
  Json j;
  j.set("class_name", class_name());
  j.set("config", network().full_config());
  j.set("keras_version", keras_version_for(network()));
  j.set("backend", "tensorflow");
  return j.dump();
}

Model model_from_json(std::string_view text, const CustomLayers& custom_layers,
                      const Lambdas& lambdas) {
  return model_from_json(text, {.custom_layers = custom_layers, .lambdas = lambdas});
}

Model model_from_json(std::string_view text, const LoadOptions& options) {
  const CustomScope custom(options);
  const Json j = Json::parse(text, "model_from_json");
  const Json* version = j.find("keras_version");
  const bool is_tf = version && version->is_string() && is_tf_keras(version->as_string(""));
  auto network = std::dynamic_pointer_cast<Network>(
      layer_from(j, {options.custom_layers, options.lambdas, is_tf}));
  if (!network)
    throw ValueError("model_from_json: class_name must be Model or Sequential; got " +
                     j.at("class_name", "").dump() + ".");
  return Model(std::move(network));
}

}  // namespace horngate::keras
