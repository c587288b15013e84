#include "keras/trainer.h"

#include <algorithm>

#include "horngate/config.h"
#include "horngate/horngate.h"
#include "keras/losses_utils.h"
#include "keras/names.h"
#include "keras/node.h"

namespace horngate::keras {
namespace {

/// The one for an output, by the ways in which users say it. `fallback` where nothing is said.
template <class T>
std::vector<T> spread(const char* what, const PerOutput<T>& given,
                      const std::vector<std::string>& names, T fallback) {
  std::vector<T> result(names.size(), fallback);
  if (const T* one = given.one()) {
    std::fill(result.begin(), result.end(), *one);
  } else if (const std::vector<T>* each = given.each()) {
    if (each->size() != names.size())
      throw ValueError(std::string("compile: ") + what + " must be one for each of " +
                       std::to_string(names.size()) + " outputs; got " +
                       std::to_string(each->size()) + ".");
    result = *each;
  } else if (const auto* named = given.named()) {
    for (const auto& [name, value] : *named) {
      const auto at = std::find(names.begin(), names.end(), name);
      if (at == names.end())
        throw ValueError(std::string("compile: ") + what + " must name outputs (" + listed(names) +
                         "); got \"" + name + "\".");
      result[static_cast<size_t>(at - names.begin())] = value;
    }
  }
  return result;
}

/// Weights of samples, with a mask of them.
Tensor masked(const Tensor& weights, const Tensor& mask, DType dtype) {
  if (!mask.defined()) return weights;
  const Tensor counts = cast(mask, dtype);
  if (!weights.defined()) return counts;
  const Squeezed s = squeeze_or_expand_dimensions(counts, {}, weights);
  return s.sample_weight * s.y_pred;
}

}  // namespace

const CompileOptions& Trainer::options() const {
  if (!is_compiled()) throw RuntimeError("model " + network_.name() + " must be compiled first.");
  return options_;
}

const std::vector<std::string>& Trainer::names() const {
  (void)options();
  return names_;
}

std::string Trainer::unique_name(const std::string& name, const Output& output) const {
  const std::string base = outputs_.size() > 1 ? output.name + "_" + name : name;
  std::string result = base;
  for (int j = 1; std::find(names_.begin(), names_.end(), result) != names_.end(); ++j)
    result = base + "_" + std::to_string(j);
  return result;
}

std::unique_lock<std::mutex> Trainer::until_built() const {
  return has_graph_ ? std::unique_lock<std::mutex>() : std::unique_lock(build_mutex_);
}

bool Trainer::is_compiled() const {
  const auto lock = until_built();
  return is_compiled_;
}

bool Trainer::has_graph() const {
  const auto lock = until_built();
  return network_.has_graph();
}

void Trainer::ensure_graph(const char* function, const Data& x) {
  if (has_graph_) return;
  const std::lock_guard lock(build_mutex_);
  if (!network_.has_graph()) {
    const Arrays* list = x.list();
    if (!list || list->size() != 1)
      throw ValueError(std::string(function) +
                       ": a Sequential without input_shape needs one array to begin with.");
    Ints dims = (*list)[0].dims();
    if (!dims.empty()) dims[0] = Shape::kUnknown;
    network_.build_for(Shape(dims));
    if (is_compiled_) compile_now(options_);
  }
  has_graph_ = true;
}

void Trainer::compile(const CompileOptions& options) {
  const auto lock = until_built();
  compile_now(options);
}

void Trainer::compile_now(const CompileOptions& options) {
  // A Sequential that knows no shapes yet is compiled when it does.
  if (!network_.has_graph()) {
    options_ = options;
    is_compiled_ = true;
    return;
  }
  const std::vector<std::string> names = network_.output_names();
  const auto losses = spread<Loss>("loss", options.loss, names, {});
  const auto weights = spread<double>("loss_weights", options.loss_weights, names, 1.0);
  const auto modes =
      spread<std::string>("sample_weight_mode", options.sample_weight_mode, names, "");

  is_compiled_ = false;
  options_ = options;
  // Whoever compiles a discriminator and then freezes it for another model trains it all the same.
  trained_.clear();
  for (const Weight& w : network_.trainable_weights()) trained_.push_back(w.variable);
  outputs_.clear();
  output_losses_.clear();
  metric_updates_.clear();
  results_.clear();
  names_ = {"loss"};
  train_ = test_ = {};
  for (size_t i = 0; i < names.size(); ++i) {
    Output o{
        .name = names[i], .loss = losses[i], .weight = weights[i], .value = network_.outputs()[i]};
    if (!modes[i].empty() && modes[i] != "temporal")
      throw ValueError("compile: sample_weight_mode must be \"temporal\" or not given; got \"" +
                       modes[i] + "\".");
    o.is_temporal = modes[i] == "temporal";
    if (o.loss) {
      o.target = placeholder(
          {.ndim = o.value.ndim(), .dtype = o.value.dtype(), .name = o.name + "_target"});
      o.sample_weight =
          placeholder({.ndim = o.is_temporal ? 2 : 1, .name = o.name + "_sample_weights"});
    }
    outputs_.push_back(std::move(o));
  }
  if (outputs_.size() > 1)
    for (const Output& o : outputs_)
      if (o.loss) names_.push_back(o.name + "_loss");
  check_metrics(options.metrics);
  check_metrics(options.weighted_metrics);
  // Of each output first those, then these: names stand in the order of results.
  for (size_t i = 0; i < outputs_.size(); ++i) {
    choose_metrics(i, options.metrics, outputs_[i].metrics);
    choose_metrics(i, options.weighted_metrics, outputs_[i].weighted);
  }

  Tensor total;
  const auto add = [&total](const Tensor& loss) { total = total.defined() ? total + loss : loss; };
  Tensors output_results, metric_results;
  for (Output& o : outputs_) {
    if (!o.loss) continue;
    const Tensor mask = o.value.mask();
    const Tensor loss = o.loss(o.target, o.value, masked(o.sample_weight, mask, o.value.dtype()));
    if (outputs_.size() > 1) {
      const Metric mean = metrics::Mean({.name = o.name + "_loss"});
      const std::vector<Update> updates = mean.update_values(loss);
      metric_updates_.insert(metric_updates_.end(), updates.begin(), updates.end());
      output_results.push_back(mean.result_after(updates));
      output_losses_.push_back(mean);
    }
    for (const bool is_weighted : {false, true})
      for (Metric& m : is_weighted ? o.weighted : o.metrics) {
        const Tensor weight =
            masked(is_weighted ? o.sample_weight : Tensor(), mask, o.value.dtype());
        const std::vector<Update> updates = m.update_state(o.target, o.value, weight);
        metric_updates_.insert(metric_updates_.end(), updates.begin(), updates.end());
        metric_results.push_back(m.result_after(updates));
      }
    add(o.weight * loss);
  }
  Tensors more = losses_;
  for (const auto& node : network_.nodes())
    for (const Tensor& loss : node->losses) more.push_back(loss);
  for (const Tensor& loss : network_.weight_losses()) more.push_back(loss);
  if (!total.defined() && more.empty())
    throw ValueError("compile: the model must have a loss to make small; got none for any output.");
  for (const Tensor& loss : more) add(loss);
  total_loss_ = mean(total);
  results_.push_back(total_loss_);
  results_.insert(results_.end(), output_results.begin(), output_results.end());
  results_.insert(results_.end(), metric_results.begin(), metric_results.end());
  is_compiled_ = true;
}

void Trainer::check_metrics(const MetricChoices& choices) const {
  for (const auto& [name, ignored] : choices.named())
    if (std::none_of(outputs_.begin(), outputs_.end(),
                     [&name = name](const Output& o) { return o.name == name; }))
      throw ValueError("compile: metrics must name outputs; got \"" + name + "\".");
  if (!choices.each().empty() && choices.each().size() != outputs_.size())
    throw ValueError("compile: metrics must be a list for each of " +
                     std::to_string(outputs_.size()) + " outputs; got " +
                     std::to_string(choices.each().size()) + ".");
}

void Trainer::choose_metrics(size_t output, const MetricChoices& choices,
                             std::vector<Metric>& chosen) {
  const Output& o = outputs_[output];
  if (!o.loss) return;
  MetricChoices::List list = choices.each().empty() ? choices.all() : choices.each()[output];
  if (const auto found = choices.named().find(o.name); found != choices.named().end())
    list = found->second;
  for (const Metric& choice : list) {
    const Metric metric = choice.resolved(o.loss, o.value.shape());
    metric.set_name(unique_name(metric.name(), o));
    names_.push_back(metric.name());
    chosen.push_back(metric);
  }
}

Function Trainer::make_step(bool trains) {
  std::vector<Tensor> inputs(network_.inputs().begin(), network_.inputs().end());
  for (const Output& o : outputs_)
    if (o.loss) inputs.push_back(o.target);
  for (const Output& o : outputs_)
    if (o.loss) inputs.push_back(o.sample_weight);
  inputs.push_back(learning_phase());
  std::vector<Update> updates = metric_updates_;
  for (const Update& u : network_.state_updates()) updates.push_back(u);
  if (trains) {
    // Layer by layer as in Keras: what a layer that is called twice saw last weighs most in its averages.
    for (const auto& layer : network_.layers())
      for (const auto& node : network_.nodes_of(*layer))
        for (const OwnedUpdate& u : node->updates)
          if (network_.trainable() && happens(u)) updates.push_back(u.update);
    for (const Update& u : options_.optimizer.get_updates(total_loss_, trained_))
      updates.push_back(u);
  }
  return function(inputs, results_, updates, {.name = trains ? "train_function" : "test_function"});
}

std::vector<double> Trainer::run(bool trains, const Feeds& batch) {
  Function step;
  {
    const std::lock_guard lock(step_mutex_);
    Function& kept = trains ? train_ : test_;
    if (!kept.impl()) kept = make_step(trains);
    step = kept;
  }
  Arrays fed;
  fed.reserve(batch.inputs.size() + 2 * batch.targets.size() + 1);
  for (const Arrays* list : {&batch.inputs, &batch.targets, &batch.weights})
    fed.insert(fed.end(), list->begin(), list->end());
  static const Array kTrain(true), kTest(false);
  fed.push_back(trains ? kTrain : kTest);
  std::vector<double> values;
  for (const Array& a : step(fed)) values.push_back(a.item<double>());
  return values;
}

void Trainer::prepare() {
  const std::lock_guard lock(step_mutex_);
  if (!train_.impl()) train_ = make_step(true);
}

std::vector<double> Trainer::train(const Feeds& batch) { return run(true, batch); }
std::vector<double> Trainer::test(const Feeds& batch) { return run(false, batch); }

std::vector<double> Trainer::evaluate(const Feeds& data, int64_t batch_size) {
  const std::lock_guard lock(evaluate_mutex_);
  reset_metrics();
  std::vector<double> result(names().size(), 0.0);
  for (int64_t begin = 0; begin < data.samples; begin += batch_size) {
    const int64_t end = std::min(data.samples, begin + batch_size);
    const std::vector<double> values = test(data.rows(begin, end));
    result[0] += values[0] * static_cast<double>(end - begin);
    std::copy(values.begin() + 1, values.end(), result.begin() + 1);
  }
  if (data.samples > 0) result[0] /= static_cast<double>(data.samples);
  return result;
}

Arrays Trainer::predict(const Arrays& inputs) {
  Function step;
  {
    const std::lock_guard lock(predict_mutex_);
    if (!predict_.impl()) {
      const std::vector<Tensor> from(network_.inputs().begin(), network_.inputs().end());
      const std::vector<Tensor> to(network_.outputs().begin(), network_.outputs().end());
      predict_ = function(from, to, network_.state_updates(), {.name = "predict_function"});
    }
    step = predict_;
  }
  return step(inputs);
}

void Trainer::forget() {
  is_compiled_ = false;
  train_ = test_ = {};
  const std::lock_guard lock(predict_mutex_);
  predict_ = {};
}

void Trainer::reset_metrics() {
  for (Output& o : outputs_)
    for (std::vector<Metric>* list : {&o.metrics, &o.weighted})
      for (Metric& m : *list) m.reset_states();
  for (Metric& m : output_losses_) m.reset_states();
}

}  // namespace horngate::keras
