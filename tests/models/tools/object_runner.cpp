// Runs losses, optimizers and metrics that Python describes: object_runner CASES.json RESULTS.json.
#include "arrays.h"

namespace {

namespace K = horngate;
using namespace horngate::keras;
using namespace horngate::keras::tools;

/// For an array, with its sizes or without.
K::Tensor input_for(const K::Array& a, bool open) {
  K::Ints dims = a.dims();
  if (open && !dims.empty()) dims[0] = K::Shape::kUnknown;
  return K::placeholder({.shape = K::Shape(dims), .dtype = a.dtype()});
}

Json run_loss(const Json& test) {
  const Loss loss = Loss::from(test.at("loss", "case"), "loss");
  const K::Arrays fed = arrays_from(test.at("inputs", "case"));  // y_true, y_pred, perhaps weights
  const bool open = test.at("open", "case").as_bool("open");
  K::Tensors inputs;
  for (const K::Array& a : fed) inputs.push_back(input_for(a, open));
  const K::Tensor value = loss(inputs[0], inputs[1], inputs.size() > 2 ? inputs[2] : K::Tensor());
  const K::Tensor gradient = K::gradients(value, {inputs[1]})[0];
  Json result;
  result.set("arrays", arrays_to(K::function(
                           inputs, {loss.call(inputs[0], inputs[1]), value, gradient})(fed)));
  result.set("config", loss.config());
  result.set("name", loss.name());
  return result;
}

/// A net of two layers: mean((tanh(x . w1 + b1) . w2 - y)^2).
Json run_optimizer(const Json& test) {
  const Optimizer optimizer = Optimizer::from(test.at("optimizer", "case"), "optimizer");
  std::vector<K::Variable> params;
  const Json::List& constraints = test.at("constraints", "case").as_list("constraints");
  const K::Arrays first = arrays_from(test.at("params", "case"));
  for (size_t i = 0; i < first.size(); ++i) {
    K::Constraint constraint;
    if (const auto c = WeightConstraint::from(constraints[i], "constraint")) constraint = c;
    params.push_back(K::variable(first[i], {.constraint = constraint}));
  }
  const K::Arrays data = arrays_from(test.at("inputs", "case"));
  const K::Tensor x = input_for(data[0], false), y = input_for(data[1], false);
  const K::Tensor hidden = K::tanh(K::dot(x, params[0]) + params[1]);
  const K::Tensor loss = K::mean(K::square(K::dot(hidden, params[2]) - y));
  const K::Function train = K::function({x, y}, {loss}, optimizer.get_updates(loss, params));
  if (const Json* state = test.find("state")) optimizer.set_weights(arrays_from(*state));
  const int64_t steps = test.at("steps", "case").as_int("steps");
  Json::List after;
  for (int64_t i = 0; i < steps; ++i) {
    if (i == 2) {
      const K::Variable rate = optimizer.learning_rate();
      K::set_value(rate,
                   K::Array(0.5 * K::get_value(rate).to_vector<double>()[0]).cast(rate.dtype()));
    }
    K::Arrays now = train(data);
    for (const K::Array& a : K::batch_get_value(params)) now.push_back(a);
    for (const K::Array& a : optimizer.get_weights()) now.push_back(a);
    after.push_back(arrays_to(now));
  }
  Json result;
  result.set("steps", after);
  result.set("config", optimizer.config());
  return result;
}

/// Batches of y_true, y_pred and perhaps weights; or of values and perhaps weights.
Json run_metric(const Json& test) {
  Metric metric = Metric::from(test.at("metric", "case"), "metric");
  if (const Json* loss = test.find("loss_of_metric")) {
    K::Ints output;
    from_json(test.at("output", "case"), output, "output");
    metric = metric.resolved(Loss::from(*loss, "loss"), K::Shape(output));
  }
  const bool open = test.at("open", "case").as_bool("open");
  const bool values = test.at("values", "case").as_bool("values");
  K::Tensors inputs;
  std::vector<K::Update> updates;
  K::Function step;
  Json::List after;
  int64_t count = 0;
  for (const Json& batch : test.at("batches", "case").as_list("batches")) {
    const K::Arrays fed = arrays_from(batch);
    if (inputs.empty()) {
      for (const K::Array& a : fed) inputs.push_back(input_for(a, open));
      const size_t data = values ? 1 : 2;
      const K::Tensor weight = inputs.size() > data ? inputs[data] : K::Tensor();
      updates = values ? metric.update_values(inputs[0], weight)
                       : metric.update_state(inputs[0], inputs[1], weight);
      step = K::function(inputs, {metric.result_after(updates)}, updates);
    }
    if (count++ == 2) metric.reset_states();
    K::Arrays now = step(fed);
    now.push_back(K::eval(metric.result()));
    for (const K::Variable& v : metric.variables()) now.push_back(K::get_value(v));
    after.push_back(arrays_to(now));
  }
  Json result;
  result.set("steps", after);
  result.set("config", metric.clone().config());
  result.set("name", metric.name());
  return result;
}

Json run(const Json& test) {
  K::DType floatx = K::DType::float32;
  if (const Json* given = test.find("floatx")) from_json(*given, floatx, "floatx");
  K::set_floatx(floatx);
  if (test.find("metric")) return run_metric(test);
  if (test.find("loss")) return run_loss(test);
  return run_optimizer(test);
}

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, run); }
