// Files of models: .h5, as Keras 2.3.1 writes and reads them, and .safetensors.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

#include "horngate/keras/model.h"

namespace horngate::keras {

/// What stands for a name in a file that is not Keras's own: an object or callable, for every use of the name, or what
/// makes one from the options that the file has, like Keras's from_config:
///   {.custom_regularizers = {{"cubes", [](const K::Tensor& w) { return K::sum(K::pow(K::abs(w), 3)); }},
///                            {"Scaled", [](const keras::Json& options) { return keras::l2(..); }}}}
template <class T>
class CustomObject {
 public:
  template <class F>
    requires std::convertible_to<F, T>
  CustomObject(F object) : make_([own = T(std::move(object))](const Json&) { return own; }) {}
  template <class F>
    requires(!std::convertible_to<F, T> && std::is_invocable_r_v<T, const F&, const Json&>)
  CustomObject(F make) : make_(std::move(make)) {}
  T operator()(const Json& options) const { return make_(options); }

 private:
  std::function<T(const Json&)> make_;
};
/// By the names that files have: those of functions and of classes, as Keras's custom_objects.
template <class T>
using CustomObjects = std::map<std::string, CustomObject<T>>;

/// What is given here takes precedence over what Keras calls by the same name.
struct LoadOptions {
  CustomLayers custom_layers = {};  // classes that are not Keras's own
  Lambdas lambdas = {};             // functions of Lambda layers, by the names of layers
  CustomObjects<Loss> custom_losses = {};
  CustomObjects<Metric> custom_metrics = {};
  bool compile = true;  // as the file says, with the optimizer's state
  CustomObjects<Optimizer> custom_optimizers = {};
  CustomObjects<ActivationFunction> custom_activations = {};
  CustomObjects<Initializer> custom_initializers = {};
  CustomObjects<Regularizer> custom_regularizers = {};
  CustomObjects<WeightConstraint> custom_constraints = {};
};

/// The model of a .h5 file, of Keras or Model::save, or of a .safetensors file of Model::save: structure, weights and,
/// if it was saved with them, how it is trained and the optimizer's state. Nothing of the file is run. ValueError names
/// file and place.
/// Example: auto net = keras::load_model("net.h5");
[[nodiscard]] HORNGATE_API Model load_model(const std::string& path,
                                            const LoadOptions& options = {});

/// The model that to_json described, here or in Python: with new weights, not compiled.
/// Example: auto again = keras::model_from_json(net.to_json(), {.custom_activations = {{"cube", [](const K::Tensor& v) { return v * v * v; }}}});
[[nodiscard]] HORNGATE_API Model model_from_json(std::string_view text,
                                                 const LoadOptions& options = {});
[[nodiscard]] HORNGATE_API Model model_from_json(std::string_view text,
                                                 const CustomLayers& custom_layers,
                                                 const Lambdas& lambdas);

}  // namespace horngate::keras
