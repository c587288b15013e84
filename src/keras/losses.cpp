// Losses by name, as objects, and as callables.
#include "horngate/keras/losses.h"

#include <ranges>

#include <map>

#include "horngate/horngate.h"
#include "keras/custom.h"
#include "keras/fields.h"
#include "keras/losses_utils.h"
#include "keras/names.h"

namespace horngate::keras {

// Declared before use by Reader and Writer, which find them by the type's namespace.
static Json to_json(Reduction v) { return reduction_name(v); }
static void from_json(const Json& j, Reduction& v, const std::string& where) {
  const std::string& name = j.as_string(where);
  for (const Reduction r : {Reduction::none, Reduction::sum, Reduction::sum_over_batch_size})
    if (name == reduction_name(r)) return void(v = r);
  if (name == "auto") return void(v = Reduction::sum_over_batch_size);  // of tf.keras
  throw ValueError(where + " must be \"none\", \"sum\" or \"sum_over_batch_size\"; got \"" + name +
                   "\".");
}

namespace {

ReduceOptions last() { return {.axis = -1}; }

Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred, const LossArguments&) {
  return mean(square(y_pred - cast(y_true, y_pred.dtype())), last());
}

Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred, const LossArguments&) {
  return mean(abs(y_pred - cast(y_true, y_pred.dtype())), last());
}

Tensor mean_absolute_percentage_error(const Tensor& labels, const Tensor& y_pred,
                                      const LossArguments&) {
  const Tensor y_true = cast(labels, y_pred.dtype());
  const Tensor difference = abs((y_true - y_pred) / clip(abs(y_true), epsilon(), None));
  return 100.0 * mean(difference, last());
}

Tensor mean_squared_logarithmic_error(const Tensor& labels, const Tensor& y_pred,
                                      const LossArguments&) {
  const Tensor y_true = cast(labels, y_pred.dtype());
  const Tensor first = log(clip(y_pred, epsilon(), None) + 1.0);
  const Tensor second = log(clip(y_true, epsilon(), None) + 1.0);
  return mean(square(first - second), last());
}

/// -1 and 1 instead of 0 and 1, if there is nothing but 0 and 1.
Tensor signed_labels(const Tensor& y_true) {
  const Tensor either =
      concatenate({expand_dims(equal(y_true, 0), 0), expand_dims(equal(y_true, 1), 0)}, 0);
  const Tensor is_binary = all(any(either, {.axis = 0}));
  return switch_(is_binary, [=] { return 2.0 * y_true - 1.0; }, [=] { return y_true; });
}

Tensor hinge(const Tensor& y_true, const Tensor& y_pred, const LossArguments&) {
  return mean(maximum(1.0 - signed_labels(y_true) * y_pred, 0.0), last());
}

Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred, const LossArguments&) {
  return mean(square(maximum(1.0 - signed_labels(y_true) * y_pred, 0.0)), last());
}

Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred, const LossArguments&) {
  const Tensor right = sum(y_true * y_pred, last());
  const Tensor wrong = max((1.0 - y_true) * y_pred, last());
  return maximum(0.0, wrong - right + 1.0);
}

Tensor logcosh(const Tensor& y_true, const Tensor& y_pred, const LossArguments&) {
  const Tensor x = y_pred - y_true;
  return mean(x + softplus(-2.0 * x) - log(float_constant(2.0)), last());
}

// Keras takes no mean here.
Tensor huber_loss(const Tensor& y_true, const Tensor& y_pred, const LossArguments& a) {
  const Tensor error = abs(y_pred - y_true);
  const Tensor quadratic = minimum(error, a.delta);
  return 0.5 * square(quadratic) + a.delta * (error - quadratic);
}

/// With the digits of floatx, in which Keras computes the shares of labels.
double rounded(double value) {
  return Array(value).cast(floatx()).cast(DType::float64).data<double>()[0];
}

Tensor categorical_crossentropy(const Tensor& labels, const Tensor& y_pred,
                                const LossArguments& a) {
  Tensor y_true = cast(labels, y_pred.dtype());
  if (const double smoothing = rounded(a.label_smoothing); smoothing > 0) {
    const Tensor classes = cast(index(shape(y_true), 1), y_pred.dtype());
    y_true = y_true * rounded(1.0 - smoothing) + smoothing / classes;
  }
  return horngate::categorical_crossentropy(y_true, y_pred, {.from_logits = a.from_logits});
}

Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       const LossArguments& a) {
  return horngate::sparse_categorical_crossentropy(y_true, y_pred,
                                                   {.from_logits = a.from_logits, .axis = a.axis});
}

Tensor binary_crossentropy(const Tensor& labels, const Tensor& y_pred, const LossArguments& a) {
  Tensor y_true = cast(labels, y_pred.dtype());
  if (const double smoothing = rounded(a.label_smoothing); smoothing > 0)
    y_true = y_true * rounded(1.0 - smoothing) + 0.5 * smoothing;
  return mean(horngate::binary_crossentropy(y_true, y_pred, a.from_logits), last());
}

Tensor kullback_leibler_divergence(const Tensor& labels, const Tensor& predictions,
                                   const LossArguments&) {
  const Tensor y_true = clip(labels, epsilon(), 1), y_pred = clip(predictions, epsilon(), 1);
  return sum(y_true * log(y_true / y_pred), last());
}

Tensor poisson(const Tensor& y_true, const Tensor& y_pred, const LossArguments&) {
  return mean(y_pred - y_true * log(y_pred + epsilon()), last());
}

Tensor cosine_proximity(const Tensor& y_true, const Tensor& y_pred, const LossArguments& a) {
  return -sum(l2_normalize(y_true, a.axis) * l2_normalize(y_pred, a.axis), {.axis = a.axis});
}

/// Options beyond reduction and name that a class has.
enum Has : uint8_t { kNothing = 0, kLogits = 1, kSmoothing = 2, kDelta = 4, kAxis = 8 };

struct Kind {
  const char* function;
  const char* class_name;
  LossFunction call;
  int has = kNothing;
};

constexpr Kind kKinds[] = {
    {"mean_squared_error", "MeanSquaredError", mean_squared_error},
    {"mean_absolute_error", "MeanAbsoluteError", mean_absolute_error},
    {"mean_absolute_percentage_error", "MeanAbsolutePercentageError",
     mean_absolute_percentage_error},
    {"mean_squared_logarithmic_error", "MeanSquaredLogarithmicError",
     mean_squared_logarithmic_error},
    {"binary_crossentropy", "BinaryCrossentropy", binary_crossentropy, kLogits | kSmoothing},
    {"categorical_crossentropy", "CategoricalCrossentropy", categorical_crossentropy,
     kLogits | kSmoothing},
    {"sparse_categorical_crossentropy", "SparseCategoricalCrossentropy",
     sparse_categorical_crossentropy, kLogits},
    {"hinge", "Hinge", hinge},
    {"squared_hinge", "SquaredHinge", squared_hinge},
    {"categorical_hinge", "CategoricalHinge", categorical_hinge},
    {"poisson", "Poisson", poisson},
    {"logcosh", "LogCosh", logcosh},
    {"kullback_leibler_divergence", "KLDivergence", kullback_leibler_divergence},
    {"cosine_proximity", "CosineSimilarity", cosine_proximity, kAxis},
    {"huber_loss", "Huber", huber_loss, kDelta},
};

/// The last ones are of tf.keras.
const std::map<std::string, std::string> kAliases = {
    {"mse", "mean_squared_error"},
    {"MSE", "mean_squared_error"},
    {"mae", "mean_absolute_error"},
    {"MAE", "mean_absolute_error"},
    {"mape", "mean_absolute_percentage_error"},
    {"MAPE", "mean_absolute_percentage_error"},
    {"msle", "mean_squared_logarithmic_error"},
    {"MSLE", "mean_squared_logarithmic_error"},
    {"kld", "kullback_leibler_divergence"},
    {"KLD", "kullback_leibler_divergence"},
    {"cosine", "cosine_proximity"},
    {"cosine_similarity", "cosine_proximity"},
    {"kl_divergence", "kullback_leibler_divergence"},
    {"log_cosh", "logcosh"},
    {"huber", "huber_loss"},
    {"bce", "binary_crossentropy"},
    {"BCE", "binary_crossentropy"},
};

const Kind* find_function(const std::string& name) {
  const auto alias = kAliases.find(name);
  const std::string& wanted = alias != kAliases.end() ? alias->second : name;
  for (const Kind& kind : kKinds)
    if (wanted == kind.function) return &kind;
  return nullptr;
}

const Kind* find_class(const std::string& name) {
  for (const Kind& kind : kKinds)
    if (name == kind.class_name) return &kind;
  return nullptr;
}

struct ClassArguments {
  int has = kNothing;
  std::optional<std::string> name = {};
  Reduction reduction = Reduction::sum_over_batch_size;
  LossArguments own = {};
};
template <class V>
void fields(V& v, Like<ClassArguments> auto& a) {
  v("reduction", a.reduction), v("name", a.name);
  if (a.has & kLogits) v("from_logits", a.own.from_logits);
  if (a.has & kSmoothing) v("label_smoothing", a.own.label_smoothing);
  if (a.has & kDelta) v("delta", a.own.delta);
  if (a.has & kAxis) v("axis", a.own.axis);
}

Loss::Call bound(LossFunction call, const LossArguments& arguments) {
  return
      [=](const Tensor& y_true, const Tensor& y_pred) { return call(y_true, y_pred, arguments); };
}

Loss of_class(const Kind& kind, ClassArguments a) {
  a.has = kind.has;
  if (!a.name || a.name->empty()) a.name = kind.function;
  return Loss(Loss::Shared{.config = class_config(kind.class_name, config_of(a)),
                           .name = *a.name,
                           .function = kind.function,
                           .reduction = a.reduction,
                           .call = bound(kind.call, a.own)});
}

Loss of_class(const char* class_name, const losses::Options& o) {
  return of_class(*find_class(class_name), {.name = o.name, .reduction = o.reduction});
}

Loss of_keras(const NamedConfig& given, const std::string& where) {
  const std::string& name = given.name;
  const Json& c = given.config;
  if (const Kind* kind = find_class(name)) {
    ClassArguments a{.has = kind->has};
    Reader reader{c, where + ": " + name};
    fields(reader, a);
    return of_class(*kind, a);
  }
  if (const Kind* kind = find_function(name))
    return Loss(Loss::Shared{.config = name,
                             .name = kind->function,
                             .function = kind->function,
                             .reduction = Reduction::sum_over_batch_size,
                             .call = bound(kind->call, {})});
  unknown_name(
      where, "loss", name,
      listed(kKinds | std::views::transform(&Kind::function)) + ", their classes or aliases",
      custom_hint("custom_losses"));
}

bool is_nameless(const Loss& loss) {
  return loss.function().empty() && loss.config() == Json("loss");
}

/// A callable under the name, and with the options of losses, that a file has.
Loss with_config(const Loss& own, const Json& j, const NamedConfig& given,
                 const std::string& where) {
  ClassArguments a{.name = given.name, .reduction = own.reduction()};
  Reader reader{given.config, where + ": " + given.name};
  fields(reader, a);
  return Loss(Loss::Shared{.config = j,
                           .name = a.name.value_or(given.name),
                           .function = {},
                           .reduction = a.reduction,
                           .call = [own](const Tensor& y_true, const Tensor& y_pred) {
                             return own.call(y_true, y_pred);
                           }});
}

}  // namespace

FoundLoss find_loss(const std::string& name) {
  const Kind* kind = find_function(name);
  return kind ? FoundLoss{kind->function, kind->call} : FoundLoss{};
}

const char* reduction_name(Reduction reduction) {
  switch (reduction) {
    case Reduction::none: return "none";
    case Reduction::sum: return "sum";
    case Reduction::sum_over_batch_size: break;
  }
  return "sum_over_batch_size";
}

Loss::Loss(const char* name) : Loss(of_keras({name, "loss"}, "loss")) {}

Loss::Loss(const std::string& name, Call call, Reduction reduction)
    : Loss(Shared{.config = name.empty() ? "loss" : name,
                  .name = name.empty() ? "loss" : name,
                  .function = {},
                  .reduction = reduction,
                  .call = std::move(call)}) {}

const Loss::Shared& Loss::shared() const {
  if (!shared_) throw ValueError("loss: this handle holds no loss.");
  return *shared_;
}
const std::string& Loss::name() const { return shared().name; }
const std::string& Loss::function() const { return shared().function; }
Reduction Loss::reduction() const { return shared().reduction; }

Tensor Loss::call(const Tensor& y_true, const Tensor& y_pred) const {
  return shared().call(y_true, y_pred);
}

Tensor Loss::operator()(const Tensor& y_true, const Tensor& y_pred,
                        const Tensor& sample_weight) const {
  return compute_weighted_loss(call(y_true, y_pred), sample_weight, reduction());
}

Loss Loss::from(const Json& j, const std::string& where) {
  if (j.is_null()) return {};
  const NamedConfig given(j, where);
  if (const auto own = custom_object(&LoadOptions::custom_losses, given))
    return *own && is_nameless(*own) ? with_config(*own, j, given, where) : *own;
  return of_keras(given, where);
}

namespace losses {

// clang-format off
Loss MeanSquaredError(const Options& o) { return of_class("MeanSquaredError", o); }
Loss MeanAbsoluteError(const Options& o) { return of_class("MeanAbsoluteError", o); }
Loss MeanAbsolutePercentageError(const Options& o) { return of_class("MeanAbsolutePercentageError", o); }
Loss MeanSquaredLogarithmicError(const Options& o) { return of_class("MeanSquaredLogarithmicError", o); }
Loss Hinge(const Options& o) { return of_class("Hinge", o); }
Loss SquaredHinge(const Options& o) { return of_class("SquaredHinge", o); }
Loss CategoricalHinge(const Options& o) { return of_class("CategoricalHinge", o); }
Loss Poisson(const Options& o) { return of_class("Poisson", o); }
Loss LogCosh(const Options& o) { return of_class("LogCosh", o); }
Loss KLDivergence(const Options& o) { return of_class("KLDivergence", o); }
// clang-format on

Loss BinaryCrossentropy(const CrossentropyOptions& o) {
  return of_class(*find_class("BinaryCrossentropy"),
                  {.name = o.name,
                   .reduction = o.reduction,
                   .own = {.from_logits = o.from_logits, .label_smoothing = o.label_smoothing}});
}
Loss CategoricalCrossentropy(const CrossentropyOptions& o) {
  return of_class(*find_class("CategoricalCrossentropy"),
                  {.name = o.name,
                   .reduction = o.reduction,
                   .own = {.from_logits = o.from_logits, .label_smoothing = o.label_smoothing}});
}
Loss SparseCategoricalCrossentropy(const SparseCrossentropyOptions& o) {
  return of_class(
      *find_class("SparseCategoricalCrossentropy"),
      {.name = o.name, .reduction = o.reduction, .own = {.from_logits = o.from_logits}});
}
Loss CosineSimilarity(const CosineSimilarityOptions& o) {
  return of_class(*find_class("CosineSimilarity"),
                  {.name = o.name, .reduction = o.reduction, .own = {.axis = o.axis}});
}
Loss Huber(const HuberOptions& o) {
  return of_class(*find_class("Huber"),
                  {.name = o.name, .reduction = o.reduction, .own = {.delta = o.delta}});
}

}  // namespace losses

}  // namespace horngate::keras
