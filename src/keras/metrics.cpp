// Metrics: means of functions, by name, as objects and as callables.
#include "horngate/keras/metrics.h"

#include "horngate/horngate.h"
#include "keras/custom.h"
#include "keras/losses_utils.h"
#include "keras/metric_bodies.h"
#include "keras/names.h"

namespace horngate::keras {

MetricBody::~MetricBody() = default;

DType MetricBody::dtype() const { return dtype_.value_or(floatx()); }

void MetricBody::set_options(const MetricOptions& options) {
  name_ = !options.name.empty() ? options.name : default_name(class_name());
  dtype_ = options.dtype;
}

Json MetricBody::description() const {
  Json c;
  c.set("name", name_);
  c.set("dtype", std::string(name_of(dtype())));
  const Json own = config();
  for (const auto& [name, value] : own.as_object("")) c.set(name, value);
  return class_config(class_name().c_str(), c);
}

Variable MetricBody::add_weight(const char* name, const Ints& shape, DTypeChoice dtype) {
  const DType type = dtype.value_or(this->dtype());
  variables_.push_back(
      variable(Array::zeros(type, shape), {.dtype = type, .name = name_ + "/" + name}));
  return variables_.back();
}

MetricOptions read_metric_options(const Json& config, const std::string& where) {
  MetricOptions options;
  std::optional<std::string> name;
  Reader reader{config, where};
  reader("name", name), reader("dtype", options.dtype);
  options.name = name.value_or("");
  return options;
}

namespace {

// ---- Means and sums

struct ReduceArguments {
  bool is_mean = true;
};
template <class V>
void fields(V&, Like<ReduceArguments> auto&) {}

/// total, and for means count.
template <class Arguments, class B>
class MeanOf : public MetricOf<Arguments, B> {
 public:
  using MetricOf<Arguments, B>::MetricOf;
  void build() override {
    total_ = this->add_weight("total");
    if (has_count()) count_ = this->add_weight("count");
  }
  Tensor result() const override { return has_count() ? total_ / count_ : Tensor(total_); }

 protected:
  virtual bool has_count() const { return true; }
  std::vector<Update> add(Tensor values, Tensor weight) const {
    values = cast(values, this->dtype());
    if (weight.defined()) {
      Squeezed s = squeeze_or_expand_dimensions(values, {}, cast(weight, this->dtype()));
      weight = broadcast_weights(s.y_pred, s.sample_weight);
      values = s.y_pred * weight;
    }
    std::vector<Update> updates{update_add(total_, sum(values))};
    if (has_count())
      updates.emplace_back(
          update_add(count_, weight.defined() ? sum(weight) : cast(size(values), this->dtype())));
    return updates;
  }
  Variable total_, count_;
};

class ReduceBody final : public MeanOf<ReduceArguments, ReduceBody> {
 public:
  using MeanOf::MeanOf;
  std::string class_name() const override { return o.is_mean ? "Mean" : "Sum"; }
  std::vector<Update> update_state(const Tensor& values, const Tensor& y_pred,
                                   const Tensor& sample_weight) override {
    if (y_pred.defined())
      throw TypeError(class_name() + ": takes values, with update_values; got y_true and y_pred.");
    return add(values, sample_weight);
  }

 protected:
  bool has_count() const override { return o.is_mean; }
};

Metric make_reduce(bool is_mean, MetricOptions options) {
  if (options.name.empty()) options.name = is_mean ? "mean" : "sum";
  return finished(std::make_shared<ReduceBody>(ReduceArguments{is_mean}), options);
}

class RootMeanSquaredErrorBody final : public MeanOf<ReduceArguments, RootMeanSquaredErrorBody> {
 public:
  using MeanOf::MeanOf;
  std::string class_name() const override { return "RootMeanSquaredError"; }
  std::vector<Update> update_state(const Tensor& y_true, const Tensor& y_pred,
                                   const Tensor& sample_weight) override {
    return add(square(y_pred - y_true), sample_weight);
  }
  Tensor result() const override { return sqrt(total_ / count_); }
};

// ---- Means of functions

struct FunctionArguments : LossArguments {
  double threshold = 0.5;
  int64_t k = 5;
};
using MetricFunction = Tensor (*)(const Tensor& y_true, const Tensor& y_pred,
                                  const FunctionArguments& a);

Tensor accuracy(const Tensor& y_true, const Tensor& y_pred, const FunctionArguments&) {
  return cast(equal(cast(y_true, y_pred.dtype()), y_pred), floatx());
}

Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred, const FunctionArguments& a) {
  Tensor sides = y_pred;
  if (a.threshold != 0.5)
    sides =
        cast(greater(y_pred, cast(float_constant(a.threshold), y_pred.dtype())), y_pred.dtype());
  return mean(equal(y_true, round(sides)), {.axis = -1});
}

Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, const FunctionArguments&) {
  return cast(equal(argmax(y_true, -1), argmax(y_pred, -1)), floatx());
}

Tensor sparse_categorical_accuracy(const Tensor& labels, const Tensor& y_pred,
                                   const FunctionArguments&) {
  const Tensor y_true = labels.ndim() == y_pred.ndim() ? squeeze(labels, -1) : labels;
  return cast(equal(y_true, cast(argmax(y_pred, -1), floatx())), floatx());
}

Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                  const FunctionArguments& a) {
  return cast(in_top_k(y_pred, argmax(y_true, -1), a.k), floatx());
}

Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                         const FunctionArguments& a) {
  return cast(in_top_k(y_pred, cast(flatten(y_true), DType::int32), a.k), floatx());
}

// The loss of this name has the other sign.
Tensor cosine_proximity(const Tensor& y_true, const Tensor& y_pred, const FunctionArguments& a) {
  return sum(l2_normalize(y_true, a.axis) * l2_normalize(y_pred, a.axis), {.axis = a.axis});
}

struct NamedFunction {
  const char* name;
  MetricFunction call;
};
constexpr NamedFunction kFunctions[] = {
    {"accuracy", accuracy},
    {"binary_accuracy", binary_accuracy},
    {"categorical_accuracy", categorical_accuracy},
    {"sparse_categorical_accuracy", sparse_categorical_accuracy},
    {"top_k_categorical_accuracy", top_k_categorical_accuracy},
    {"sparse_top_k_categorical_accuracy", sparse_top_k_categorical_accuracy},
    {"cosine_proximity", cosine_proximity},
    {"cosine_similarity", cosine_proximity},
    {"cosine", cosine_proximity},
};

/// What computes the values of a metric; empty for none of this name.
std::function<Tensor(const Tensor&, const Tensor&, const FunctionArguments&)> function_of(
    const std::string& name) {
  for (const NamedFunction& f : kFunctions)
    if (name == f.name) return f.call;
  if (const FoundLoss found = find_loss(name); found.call) return found.call;
  return {};
}

/// Options of a class.
enum Has : uint8_t {
  kNothing = 0,
  kLogits = 1,
  kSmoothing = 2,
  kAxis = 4,
  kThreshold = 8,
  kK = 16
};
struct FunctionClass {
  const char* class_name;
  const char* function;
  int has = kNothing;
};
constexpr FunctionClass kClasses[] = {
    {"MeanSquaredError", "mean_squared_error"},
    {"MeanAbsoluteError", "mean_absolute_error"},
    {"MeanAbsolutePercentageError", "mean_absolute_percentage_error"},
    {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error"},
    {"Hinge", "hinge"},
    {"SquaredHinge", "squared_hinge"},
    {"CategoricalHinge", "categorical_hinge"},
    {"LogCoshError", "logcosh"},
    {"Poisson", "poisson"},
    {"KLDivergence", "kullback_leibler_divergence"},
    {"CosineSimilarity", "cosine_similarity", kAxis},
    {"BinaryCrossentropy", "binary_crossentropy", kLogits | kSmoothing},
    {"CategoricalCrossentropy", "categorical_crossentropy", kLogits | kSmoothing},
    {"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy", kLogits | kAxis},
    {"Accuracy", "accuracy"},
    {"BinaryAccuracy", "binary_accuracy", kThreshold},
    {"CategoricalAccuracy", "categorical_accuracy"},
    {"SparseCategoricalAccuracy", "sparse_categorical_accuracy"},
    {"TopKCategoricalAccuracy", "top_k_categorical_accuracy", kK},
    {"SparseTopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy", kK},
};

struct WrapperArguments {
  std::string class_name = "MeanMetricWrapper";
  std::optional<Json> named = {};  // how files have it, if not as an object
  int has = kNothing;
  FunctionArguments own = {};
  std::function<Tensor(const Tensor&, const Tensor&, const FunctionArguments&)> call = {};
};
template <class V>
void fields(V& v, Like<WrapperArguments> auto& a) {
  if (a.has & kThreshold) v("threshold", a.own.threshold);
  if (a.has & kK) v("k", a.own.k);
  if (a.has & kLogits) v("from_logits", a.own.from_logits);
  if (a.has & kSmoothing) v("label_smoothing", a.own.label_smoothing);
  if (a.has & kAxis) v("axis", a.own.axis);
}

class WrapperBody final : public MeanOf<WrapperArguments, WrapperBody> {
 public:
  using MeanOf::MeanOf;
  std::string class_name() const override { return o.class_name; }
  Json description() const override { return o.named ? *o.named : MeanOf::description(); }
  void say(Json description) { o.named = std::move(description); }
  std::vector<Update> update_state(const Tensor& labels, const Tensor& predictions,
                                   const Tensor& sample_weight) override {
    const Squeezed s =
        squeeze_or_expand_dimensions(cast(predictions, dtype()), cast(labels, dtype()), {});
    return add(o.call(s.y_true, s.y_pred, o.own), sample_weight);
  }
};

Metric make_class(const FunctionClass& c, const FunctionArguments& own, MetricOptions options) {
  if (options.name.empty()) options.name = c.function;
  return finished(std::make_shared<WrapperBody>(
                      WrapperArguments{c.class_name, {}, c.has, own, function_of(c.function)}),
                  options);
}

Metric make_class(const char* class_name, const FunctionArguments& own,
                  const MetricOptions& options) {
  for (const FunctionClass& c : kClasses)
    if (c.class_name == std::string_view(class_name)) return make_class(c, own, options);
  throw ValueError(std::string("metric: no class ") + class_name + ".");
}

/// A function under the name that the user wrote.
Metric make_named(const std::string& name, const std::string& function) {
  WrapperArguments a;
  a.named = name;
  a.call = function_of(function);
  return finished(std::make_shared<WrapperBody>(std::move(a)), {.name = name});
}

// ---- "accuracy", until the loss is known

struct PendingArguments {
  std::string name = {};
};
template <class V>
void fields(V&, Like<PendingArguments> auto&) {}

class PendingBody final : public MetricOf<PendingArguments, PendingBody> {
 public:
  using MetricOf::MetricOf;
  std::string class_name() const override { return o.name; }
  Json description() const override { return o.name; }
  std::vector<Update> update_state(const Tensor&, const Tensor&, const Tensor&) override { fail(); }
  Tensor result() const override { fail(); }
  const std::string& wanted() const { return o.name; }

 private:
  [[noreturn]] void fail() const {
    throw ValueError(o.name + ": must know the loss; give the metric to compile, or use resolved.");
  }
};

bool is_pending(const std::string& name) {
  return name == "accuracy" || name == "acc" || name == "crossentropy" || name == "ce";
}

const MetricTable& table() {
  static const MetricTable kTable = [] {
    MetricTable t;
    t["Mean"] = [](const Json& c, const std::string& where) {
      return make_reduce(true, read_metric_options(c, where));
    };
    t["Sum"] = [](const Json& c, const std::string& where) {
      return make_reduce(false, read_metric_options(c, where));
    };
    t["RootMeanSquaredError"] = [](const Json& c, const std::string& where) {
      return metrics::RootMeanSquaredError(read_metric_options(c, where));
    };
    add_threshold_metrics(t);
    return t;
  }();
  return kTable;
}

}  // namespace

static Metric of_keras(const NamedConfig& given, const std::string& where);

Metric::Metric(const char* name) : Metric(of_keras({name, "metric"}, "metric")) {}

Metric::Metric(const std::string& name, Call call, DTypeChoice dtype) {
  WrapperArguments a;
  a.named = name.empty() ? Json() : Json(name);
  a.call = [call = std::move(call)](const Tensor& y_true, const Tensor& y_pred,
                                    const FunctionArguments&) { return call(y_true, y_pred); };
  *this = finished(std::make_shared<WrapperBody>(std::move(a)), {.name = name, .dtype = dtype});
}

MetricBody& Metric::body() const {
  if (!body_) throw ValueError("metric: this handle holds no metric.");
  return *body_;
}

std::vector<Update> Metric::update_state(const Tensor& y_true, const Tensor& y_pred,
                                         const Tensor& sample_weight) const {
  return body().update_state(y_true, y_pred, sample_weight);
}

std::vector<Update> Metric::update_values(const Tensor& values, const Tensor& sample_weight) const {
  return body().update_state(values, {}, sample_weight);
}

Tensor Metric::result() const { return identity(body().result()); }

Tensor Metric::result_after(const std::vector<Update>& updates) const {
  Tensors ops;
  for (const Update& u : updates) ops.push_back(u.op());
  const auto after = control_dependencies(ops);
  return result();
}

void Metric::reset_states() const {
  std::vector<std::pair<Variable, Array>> zeros;
  for (const Variable& v : variables())
    zeros.emplace_back(v, Array::zeros(v.dtype(), v.shape().dims()));
  batch_set_value(zeros);
}

Metric Metric::clone() const {
  return finished(body().fresh(), {.name = name(), .dtype = body().dtype()});
}

Metric Metric::resolved(const Loss& loss, const Shape& output) const {
  if (const auto* pending = dynamic_cast<const PendingBody*>(&body()))
    return resolve_accuracy(pending->wanted(), loss, output);
  return clone();
}

Metric resolve_accuracy(const std::string& name, const Loss& loss, const Shape& output) {
  if (!is_pending(name))
    unknown_name("metric", "name", name, "\"accuracy\", \"acc\", \"crossentropy\", \"ce\"");
  const std::string function = loss ? loss.function() : "";
  const Dim last = output.ndim() > 0 ? output[output.ndim() - 1] : Dim(1);
  std::string kind = "categorical_";
  if ((last.known() && last.value() == 1) || function == "binary_crossentropy")
    kind = "binary_";
  else if (function == "sparse_categorical_crossentropy")
    kind = "sparse_categorical_";
  return make_named(name, kind + (name.starts_with("acc") ? "accuracy" : "crossentropy"));
}

/// tf.keras has {"name": "accuracy", "fn": "categorical_accuracy"} where Keras has the name.
static Metric from_wrapper(const Json& c, const std::string& where) {
  const MetricOptions options = read_metric_options(c, where);
  const std::string& function = c.at("fn", where).as_string(where + ": fn");
  const auto call = function_of(function);
  if (!call) unknown_name(where, "fn", function, "Keras's functions");
  WrapperArguments a;
  a.named = is_pending(options.name) || function_of(options.name) ? options.name : function;
  a.call = call;
  return finished(std::make_shared<WrapperBody>(std::move(a)), options);
}

static Metric of_keras(const NamedConfig& given, const std::string& where) {
  const std::string& name = given.name;
  const Json& c = given.config;
  if (is_pending(name))
    return finished(std::make_shared<PendingBody>(PendingArguments{name}), {.name = name});
  const std::string at = where + ": " + name;
  for (const FunctionClass& known : kClasses) {
    if (name != known.class_name) continue;
    WrapperArguments a{.has = known.has};
    Reader reader{c, at};
    fields(reader, a);
    return make_class(known, a.own, read_metric_options(c, at));
  }
  if (const auto found = table().find(name); found != table().end()) return found->second(c, at);
  if (name == "MeanMetricWrapper") return from_wrapper(c, at);
  if (function_of(name)) return make_named(name, name);
  unknown_name(where, "metric", name, "Keras's functions and classes",
               custom_hint("custom_metrics"));
}

/// What the user gave, with the name that the file has: of a class with the options that all metrics have, of a callable
/// that has none of its own.
static Metric custom_metric(const Metric& own, const Json& j, const NamedConfig& given,
                            const std::string& where) {
  auto* callable = dynamic_cast<WrapperBody*>(&own.body());
  const bool is_nameless = callable && own.config().is_null();
  if (j.is_string() && !is_nameless) return own;
  MetricOptions options = read_metric_options(given.config, where + ": " + given.name);
  if (options.name.empty()) options.name = j.is_string() ? given.name : own.name();
  const auto body = own.body().fresh();
  if (is_nameless) static_cast<WrapperBody&>(*body).say(j);
  return finished(body, options);
}

Metric Metric::from(const Json& j, const std::string& where) {
  if (j.is_null()) return {};
  const NamedConfig given(j, where);
  if (const auto own = custom_object(&LoadOptions::custom_metrics, given))
    return custom_metric(*own, j, given, where);
  return of_keras(given, where);
}

namespace metrics {

// clang-format off
Metric Mean(const Options& o) { return make_reduce(true, o); }
Metric Sum(const Options& o) { return make_reduce(false, o); }
Metric MeanSquaredError(const Options& o) { return make_class("MeanSquaredError", {}, o); }
Metric MeanAbsoluteError(const Options& o) { return make_class("MeanAbsoluteError", {}, o); }
Metric MeanAbsolutePercentageError(const Options& o) { return make_class("MeanAbsolutePercentageError", {}, o); }
Metric MeanSquaredLogarithmicError(const Options& o) { return make_class("MeanSquaredLogarithmicError", {}, o); }
Metric Hinge(const Options& o) { return make_class("Hinge", {}, o); }
Metric SquaredHinge(const Options& o) { return make_class("SquaredHinge", {}, o); }
Metric CategoricalHinge(const Options& o) { return make_class("CategoricalHinge", {}, o); }
Metric LogCoshError(const Options& o) { return make_class("LogCoshError", {}, o); }
Metric Poisson(const Options& o) { return make_class("Poisson", {}, o); }
Metric KLDivergence(const Options& o) { return make_class("KLDivergence", {}, o); }
Metric Accuracy(const Options& o) { return make_class("Accuracy", {}, o); }
Metric CategoricalAccuracy(const Options& o) { return make_class("CategoricalAccuracy", {}, o); }
Metric SparseCategoricalAccuracy(const Options& o) { return make_class("SparseCategoricalAccuracy", {}, o); }
// clang-format on

Metric MeanMetricWrapper(const Metric::Call& call, const Options& o) {
  return Metric(o.name, call, o.dtype);
}
Metric RootMeanSquaredError(const Options& options) {
  Options o = options;
  if (o.name.empty()) o.name = "root_mean_squared_error";
  return finished(std::make_shared<RootMeanSquaredErrorBody>(ReduceArguments{}), o);
}
Metric CosineSimilarity(const CosineSimilarityOptions& o) {
  FunctionArguments a;
  a.axis = o.axis;
  return make_class("CosineSimilarity", a, {o.name, o.dtype});
}
Metric BinaryCrossentropy(const CrossentropyOptions& o) {
  FunctionArguments a;
  a.from_logits = o.from_logits, a.label_smoothing = o.label_smoothing;
  return make_class("BinaryCrossentropy", a, {o.name, o.dtype});
}
Metric CategoricalCrossentropy(const CrossentropyOptions& o) {
  FunctionArguments a;
  a.from_logits = o.from_logits, a.label_smoothing = o.label_smoothing;
  return make_class("CategoricalCrossentropy", a, {o.name, o.dtype});
}
Metric SparseCategoricalCrossentropy(const SparseCrossentropyOptions& o) {
  FunctionArguments a;
  a.from_logits = o.from_logits, a.axis = o.axis;
  return make_class("SparseCategoricalCrossentropy", a, {o.name, o.dtype});
}
Metric BinaryAccuracy(const BinaryAccuracyOptions& o) {
  FunctionArguments a;
  a.threshold = o.threshold;
  return make_class("BinaryAccuracy", a, {o.name, o.dtype});
}
Metric TopKCategoricalAccuracy(const TopKOptions& o) {
  FunctionArguments a;
  a.k = o.k;
  return make_class("TopKCategoricalAccuracy", a, {o.name, o.dtype});
}
Metric SparseTopKCategoricalAccuracy(const TopKOptions& o) {
  FunctionArguments a;
  a.k = o.k;
  return make_class("SparseTopKCategoricalAccuracy", a, {o.name, o.dtype});
}

}  // namespace metrics

}  // namespace horngate::keras
