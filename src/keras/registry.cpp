// All classes of layers, by name.
#include <cstdio>

#include "horngate/config.h"
#include "keras/layers/body_of.h"
#include "keras/layers/input.h"
#include "keras/layers/keras1.h"
#include "keras/network.h"

namespace horngate::keras {
namespace {

const LayerTable& table() {
  static const LayerTable kTable = [] {
    LayerTable t;
    add_convolutional_layers(t);
    add_core_layers(t);
    add_merge_layers(t);
    add_activation_layers(t);
    add_noise_layers(t);
    add_normalization_layers(t);
    add_local_layers(t);
    add_padding_layers(t);
    add_pooling_layers(t);
    add_embedding_layers(t);
    add_recurrent_layers(t);
    add_wrapper_layers(t);
    add_keras_1_layers(t);
    return t;
  }();
  return kTable;
}

// The bytes of a Python function are never run.
std::shared_ptr<Body> lambda_from(const Json& config, const LoadContext& context) {
  LayerOptions common = read_common(config);
  const auto found = context.lambdas.find(common.name);
  if (found == context.lambdas.end())
    throw ValueError(
        "layer " + common.name +
        " is a Lambda, whose function cannot be taken from a file: give it in lambdas, {{\"" +
        common.name + "\", [](const K::Tensor& x) { .. }}}.");
  auto body = std::make_shared<LambdaBody>(found->second);
  body->set_options(std::move(common));
  return body;
}

/// Makes a layer. Errors of files begin with its name, because there may be many of one class.
template <class F>
std::shared_ptr<Body> named(const Json& config, const F& make) {
  const auto text = [&config](const Error& e) {
    const std::string what = e.what();
    const Json* name = config.find("name");
    if (!name || !name->is_string() || what.starts_with(name->as_string("name") + ":")) return what;
    return name->as_string("name") + ": " + what;
  };
  try {
    return make();
  } catch (const ValueError& e) {
    throw ValueError(text(e));
  } catch (const TypeError& e) {
    throw TypeError(text(e));
  } catch (const NotImplementedError& e) {
    throw NotImplementedError(text(e));
  }
}

}  // namespace

LayerOptions read_common(const Json& config) {
  LayerOptions o;
  Reader reader{config, "layer"};
  reader("name", o.name);
  reader.where = o.name;
  std::optional<bool> trainable;
  reader("trainable", trainable);
  o.trainable = trainable.value_or(true);
  reader("batch_input_shape", o.batch_input_shape);
  // tf.keras has {"class_name": "Policy", "config": {"name": "float32"}} for mixed precision.
  if (const Json* dtype = config.find("dtype"); dtype && dtype->is_string())
    from_json(*dtype, o.dtype, o.name);
  return o;
}

bool is_tf_keras(const std::string& version) {
  if (version.ends_with("-tf")) return true;
  int major = 0, minor = 0;
  return std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2 && major == 2 && minor >= 4;
}

std::string keras_version_for(const Body& layer) {
  const auto* differs = dynamic_cast<const OfTfKeras*>(&layer);
  if (differs && differs->is_of_tf_keras()) return "2.4.0";
  for (const auto& part : layer.parts())
    if (keras_version_for(*part) != "2.3.1") return "2.4.0";
  return "2.3.1";
}

std::shared_ptr<Body> layer_from(const Json& description, const LoadContext& context) {
  const std::string& name = description.at("class_name", "layer").as_string("class_name");
  const Json& config = description.at("config", name);
  if (const auto found = context.custom.find(name); found != context.custom.end()) {
    return named(config, [&] {
      std::shared_ptr<Body> body = found->second(config);
      body->set_options(read_common(config));
      return body;
    });
  }
  if (name == "Model" || name == "Functional" || name == "Network")
    return Network::from_config(config, context);
  if (name == "Sequential") return Network::sequential_from_config(config, context);
  if (name == "Lambda") return lambda_from(config, context);
  const auto found = table().find(name);
  if (found != table().end())
    return named(config, [&] { return found->second(of_keras_1(name, config), context); });
  const Json* layer_name = config.find("name");
  throw ValueError("layer " + (layer_name ? layer_name->dump() : "without a name") + ": class " +
                   name + " is not one of Keras's; give it in custom_layers.");
}

}  // namespace horngate::keras
