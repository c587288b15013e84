// What all layers with options share: the body keeps its arguments, whose `fields` are its configuration.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "horngate/horngate.h"
#include "horngate/keras/layer.h"
#include "horngate/keras/layers_core.h"
#include "keras/fields.h"
#include "keras/names.h"

namespace horngate::keras {

template <class Arguments>
class BodyOf : public Body {
 public:
  using ArgumentsType = Arguments;
  explicit BodyOf(Arguments arguments) : o(std::move(arguments)) {}
  Json config() const override { return config_of(o); }

 protected:
  Arguments o;
};

/// The size along an axis: a number where it is known.
inline ShapeArg::Entry size_of(const Tensor& x, size_t axis) {
  const Dim d = x.shape()[axis];
  if (d.known()) return d;
  return index(shape(x), static_cast<int64_t>(axis));
}

/// Nothing but the common options.
struct NoArguments {};
template <class V>
void fields(V&, Like<NoArguments> auto&) {}

template <class O>
LayerOptions common_options(const O& o) {
  LayerOptions result{.name = o.name, .trainable = o.trainable, .dtype = o.dtype};
  if (o.batch_input_shape) {
    result.batch_input_shape = *o.batch_input_shape;
  } else if (o.input_shape) {
    Ints dims{Shape::kUnknown};
    for (const int64_t d : o.input_shape->dims()) dims.push_back(d);
    result.batch_input_shape = Shape(dims);
  }
  return result;
}

/// A layer from arguments and the options that hold the common part.
template <class B, class O>
Layer make_layer(typename B::ArgumentsType arguments, const O& options) {
  auto body = std::make_shared<B>(std::move(arguments));
  body->set_options(common_options(options));
  return Layer(std::move(body));
}

inline const Lambdas kNoLambdas;
/// What is needed to make layers that hold others.
struct LoadContext {
  const CustomLayers& custom;
  const Lambdas& lambdas = kNoLambdas;
  bool is_tf_keras = false;  // who wrote the file
};

/// Layers that tf.keras computes otherwise than Keras 2.3.1 keep to what their file meant.
class OfTfKeras {
 public:
  virtual ~OfTfKeras() = default;
  void set_of_tf_keras() { is_of_tf_keras_ = true; }
  bool is_of_tf_keras() const { return is_of_tf_keras_; }

 private:
  bool is_of_tf_keras_ = false;
};

/// Whether a version is one of tf.keras, "2.2.4-tf" or "2.4.0": Keras ended with 2.3.1.
bool is_tf_keras(const std::string& keras_version);
/// The version that files of a layer name: what reads them again must know.
std::string keras_version_for(const Body& layer);

using LayerTable = std::map<std::string, std::shared_ptr<Body> (*)(const Json& config,
                                                                   const LoadContext& context)>;

LayerOptions read_common(const Json& config);

/// For the table: a layer from its configuration.
template <class B>
std::shared_ptr<Body> make_from(const Json& config, const LoadContext&) {
  LayerOptions common = read_common(config);
  auto body = std::make_shared<B>(options_from<typename B::ArgumentsType>(config, common.name));
  body->set_options(std::move(common));
  return body;
}

/// A layer of any class: {"class_name": .., "config": ..}.
std::shared_ptr<Body> layer_from(const Json& description, const LoadContext& context);

// One for each file of layers.
void add_convolutional_layers(LayerTable& table);
void add_core_layers(LayerTable& table);
void add_merge_layers(LayerTable& table);
void add_activation_layers(LayerTable& table);
void add_noise_layers(LayerTable& table);
void add_normalization_layers(LayerTable& table);
void add_local_layers(LayerTable& table);
void add_padding_layers(LayerTable& table);
void add_pooling_layers(LayerTable& table);
void add_embedding_layers(LayerTable& table);
void add_recurrent_layers(LayerTable& table);
void add_wrapper_layers(LayerTable& table);
void add_keras_1_layers(LayerTable& table);

}  // namespace horngate::keras
