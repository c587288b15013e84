// Activations by name.
#include <map>
#include <ranges>

#include "horngate/error.h"
#include "horngate/keras/objects.h"
#include "horngate/ops/elementwise.h"
#include "horngate/ops/linalg.h"
#include "horngate/ops/nn.h"
#include "horngate/ops/values.h"
#include "keras/custom.h"
#include "keras/names.h"

namespace horngate::keras {
namespace {

// Of more than two dimensions Keras writes it out.
Tensor softmax_of(const Tensor& x) {
  if (x.ndim() == 2) return softmax(x);
  if (x.ndim() < 2)
    throw ValueError("softmax: x must have at least 2 dimensions; got " + x.shape().str() + ".");
  const Tensor e = exp(x - max(x, {.axis = -1, .keepdims = true}));
  return e / sum(e, {.axis = -1, .keepdims = true});
}

Tensor selu(const Tensor& x) {
  return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717);
}

/// x times the normal distribution's share below x. The error function by formula 7.1.26 of Abramowitz and Stegun, right
/// to 1.5e-7.
Tensor gelu(const Tensor& x) {
  const Tensor z = abs(x) * 0.70710678118654752;
  const Tensor t = 1.0 / (1.0 + 0.3275911 * z);
  Tensor sum = 1.061405429 * t;
  for (const double c : {-1.453152027, 1.421413741, -0.284496736, 0.254829592}) sum = (sum + c) * t;
  return 0.5 * x * (1.0 + sign(x) * (1.0 - sum * exp(-square(z))));
}

using Function1 = Tensor (*)(const Tensor&);
const std::map<std::string, Function1>& table() {
  static const std::map<std::string, Function1> kTable = {
      {"elu", [](const Tensor& x) { return elu(x); }},
      {"exponential", [](const Tensor& x) { return exp(x); }},
      {"hard_sigmoid", [](const Tensor& x) { return hard_sigmoid(x); }},
      {"linear", [](const Tensor& x) { return x; }},
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"selu", selu},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
      {"softmax", softmax_of},
      {"softplus", [](const Tensor& x) { return softplus(x); }},
      {"softsign", [](const Tensor& x) { return softsign(x); }},
      {"tanh", [](const Tensor& x) { return tanh(x); }},
      // Of tf.keras.
      {"gelu", gelu},
      {"mish", [](const Tensor& x) { return x * tanh(softplus(x)); }},
      {"silu", [](const Tensor& x) { return x * sigmoid(x); }},
      {"swish", [](const Tensor& x) { return x * sigmoid(x); }},
  };
  return kTable;
}

Function1 find(const std::string& name, const std::string& where) {
  const auto found = table().find(name);
  if (found != table().end()) return found->second;
  unknown_name(where, "activation", name, listed(table() | std::views::keys, "\""),
               custom_hint("custom_activations"));
}

}  // namespace

ActivationFunction::ActivationFunction(const char* name)
    : Named(Json(name), find(name, "activation")) {}

ActivationFunction::ActivationFunction(const std::string& name, Call call)
    : Named(own_name(kClassName, name, table().contains(name)), std::move(call)) {}

ActivationFunction ActivationFunction::from(const Json& config, const std::string& where) {
  if (config.is_null()) return {};
  const NamedConfig given(config, where);
  if (const auto own = custom_named(&LoadOptions::custom_activations, config, given)) return *own;
  (void)find(given.name, where);
  return ActivationFunction(given.name);
}

}  // namespace horngate::keras
