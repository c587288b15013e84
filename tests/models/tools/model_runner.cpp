// What a program does with models, as Python says: model_runner CASES.json RESULTS.json. A case is a list of steps, each an
// object with "do" ("load", "from_json", "train", "test", "predict", "fit", "evaluate", "save", "save_weights",
// "load_weights", "summary", "weights", "optimizer_weights", "floatx", ..); the result is a list of what they gave.
#include "arrays.h"

namespace {

using namespace horngate;
using namespace horngate::keras;
using namespace horngate::keras::tools;

Json numbers(const std::vector<double>& values) {
  Json::List list;
  for (const double v : values) list.push_back(v);
  return list;
}

Data data_of(const Json& step, const char* name) {
  const Json* found = step.find(name);
  return found && !found->is_null() ? Data(arrays_from(*found)) : Data();
}

ClassWeights class_weights(const Json& step) {
  ClassWeights weights;
  if (const Json* found = step.find("class_weight"))
    for (const Json& pair : found->as_list("class_weight"))
      weights[pair.as_list("pair")[0].as_int("class")] =
          pair.as_list("pair")[1].as_number("weight");
  return weights;
}

Json history_of(const History& history) {
  Json j = Json::Object();
  for (const auto& [name, values] : history.history) j.set(name, numbers(values));
  return j;
}

/// The optimizer of test_keras_custom.py.
struct Signs : OptimizerBody {
  Signs(double given, int64_t seen) : rate(given) {
    steps = variable(Array(seen), {.dtype = DType::int64});
  }
  double rate;
  Variable steps;
  std::string class_name() const override { return "Signs"; }
  Json config() const override {
    Json config;
    config.set("rate", rate);
    return config;
  }
  std::vector<Update> get_updates(const Tensor& loss,
                                  const std::vector<Variable>& params) override {
    const Tensors grads = gradients_of(loss, params);
    std::vector<Update> updates{update_add(steps, 1)};
    weights_ = {steps};
    for (size_t i = 0; i < params.size(); ++i) {
      const Variable speed = variable(Array::zeros(floatx(), params[i].shape().dims()));
      weights_.push_back(speed);
      const Tensor now = 0.5 * speed + rate * sign(grads[i]);
      updates.push_back(update(speed, now));
      updates.push_back(update(params[i], params[i] - now));
    }
    return updates;
  }
};

/// What test_keras_custom.py has in Python under the same names.
LoadOptions python_objects() {
  const auto cubes = [](const Tensor& w) { return sum(abs(w * w * w)); };
  const auto mean_power = [](double p) {
    return [p](const Tensor& y_true, const Tensor& y_pred) {
      return mean(pow(abs(y_true - y_pred), p), {.axis = -1});
    };
  };
  return {.custom_losses = {{"far", mean_power(3)},
                            {"Far",
                             [=](const Json& c) {
                               return Loss("far", mean_power(c.at("p", "Far").as_number("p")));
                             }}},
          .custom_metrics = {{"near", mean_power(1)}, {"Near", mean_power(1)}},
          .custom_optimizers = {{"Signs",
                                 [](const Json& c) {
                                   return Optimizer(std::make_shared<Signs>(
                                       c.at("rate", "Signs").as_number("rate"), 0));
                                 }}},
          .custom_activations = {{"doubled", [](const Tensor& x) { return 2 * x; }}},
          .custom_initializers = {{"threes",
                                   [](const Shape& shape, DType dtype) {
                                     return Array::full(dtype, shape.dims(), 3);
                                   }}},
          .custom_regularizers = {{"cubes", cubes},
                                  {"Powers",
                                   [](const Json& c) {
                                     const double p = c.at("p", "Powers").as_number("p");
                                     return Regularizer(
                                         [p](const Tensor& w) { return sum(pow(abs(w), p)); });
                                   }}},
          .custom_constraints = {{"halved", [](const Tensor& w) { return 0.5 * w; }}}};
}

/// {"class_name": .., "config": {..}}, options as Keras names them. `events` gets what a LambdaCallback sees.
Callback callback_from(const Json& j, std::shared_ptr<Json::List> events) {
  const std::string& name = j.at("class_name", "callback").as_string("class_name");
  const Json& config = j.at("config", "callback");
  Reader read{config, name};
  if (name == "EarlyStopping") {
    EarlyStoppingOptions o;
    read("monitor", o.monitor), read("min_delta", o.min_delta), read("patience", o.patience);
    read("mode", o.mode), read("baseline", o.baseline);
    read("restore_best_weights", o.restore_best_weights);
    return EarlyStopping(o);
  }
  if (name == "ReduceLROnPlateau") {
    ReduceLROnPlateauOptions o;
    read("monitor", o.monitor), read("factor", o.factor), read("patience", o.patience);
    read("mode", o.mode), read("min_delta", o.min_delta), read("cooldown", o.cooldown);
    read("min_lr", o.min_lr);
    return ReduceLROnPlateau(o);
  }
  if (name == "ModelCheckpoint") {
    ModelCheckpointOptions o;
    read("monitor", o.monitor), read("save_best_only", o.save_best_only);
    read("save_weights_only", o.save_weights_only), read("mode", o.mode), read("period", o.period);
    return ModelCheckpoint(config.at("filepath", name).as_string("filepath"), o);
  }
  if (name == "CSVLogger") {
    CSVLoggerOptions o;
    read("separator", o.separator), read("append", o.append);
    return CSVLogger(config.at("filename", name).as_string("filename"), o);
  }
  if (name == "LearningRateScheduler") {  // lr * factor at each epoch
    const double factor = config.at("factor", name).as_number("factor");
    return LearningRateScheduler([factor](int64_t, double rate) { return rate * factor; });
  }
  if (name == "TerminateOnNaN") return TerminateOnNaN();
  if (name == "BaseLogger") return BaseLogger({"accuracy"});
  if (name != "LambdaCallback") throw ValueError("callback: unknown class " + name + ".");
  const auto note = [events](const char* what, int64_t number) {
    events->push_back(std::string(what) + " " + std::to_string(number));
  };
  return LambdaCallback({.on_epoch_begin = [note](int64_t e) { note("epoch begins", e); },
                         .on_epoch_end = [note](int64_t e, Logs&) { note("epoch ends", e); },
                         .on_batch_begin = [note](int64_t b) { note("batch begins", b); },
                         .on_batch_end = [note](int64_t b, const Logs&) { note("batch ends", b); },
                         .on_train_begin = [note] { note("training begins", 0); },
                         .on_train_end = [note] { note("training ends", 0); }});
}

class Runner {
 public:
  Json operator()(const Json& step) {
    const std::string& what = step.at("do", "step").as_string("do");
    const auto text = [&step](const char* name) { return step.at(name, "step").as_string(name); };
    const auto flag = [&step](const char* name, bool standard) {
      const Json* found = step.find(name);
      return found ? found->as_bool(name) : standard;
    };
    const auto number = [&step](const char* name, int64_t standard) {
      const Json* found = step.find(name);
      return found ? found->as_int(name) : standard;
    };
    if (what == "load") {
      // Lambdas that add their second input, scaled: those of InceptionResNetV2.
      Lambdas lambdas;
      if (const Json* scales = step.find("scales"))
        for (const auto& [name, value] : scales->as_object("scales")) {
          const double scale = value.as_number("scale");
          lambdas.emplace(name, [scale](const Tensors& x) { return x[0] + x[1] * scale; });
        }
      LoadOptions o = flag("custom", false) ? python_objects() : LoadOptions();
      o.lambdas = lambdas;
      o.compile = flag("compile", true);
      model_ = load_model(text("path"), o);
      return {};
    }
    if (what == "floatx") {
      DType floatx{};
      from_json(step.at("dtype", "step"), floatx, "dtype");
      return set_floatx(floatx), Json();
    }
    if (what == "from_json" && flag("custom", false))
      return model_ = model_from_json(text("text"), python_objects()), Json();
    if (what == "from_json") return model_ = model_from_json(text("text")), Json();
    if (what == "to_json") return model_.to_json();
    if (what == "save")
      return model_.save(text("path"), {.include_optimizer = flag("include_optimizer", true)}),
             Json();
    if (what == "save_weights") return model_.save_weights(text("path")), Json();
    if (what == "load_weights")
      return model_.load_weights(text("path"), {.by_name = flag("by_name", false),
                                                .skip_mismatch = flag("skip_mismatch", false)}),
             Json();
    if (what == "freeze") {  // and compiled as before, because that decides what trains
      model_.get_layer(text("layer")).set_trainable(false);
      return model_.compile(model_.compiled()), Json();
    }
    if (what == "reset_states") return model_.reset_states(), Json();
    if (what == "summary") return model_.summary();
    if (what == "names") return to_json(model_.metrics_names());
    if (what == "weights") return arrays_to(model_.get_weights());
    if (what == "optimizer_weights") return arrays_to(model_.optimizer().get_weights());
    if (what == "predict")
      return arrays_to(
          model_.predict_all(data_of(step, "x"), {.batch_size = number("batch_size", 32)}));
    if (what == "train" || what == "test") {
      const TrainOptions o{.sample_weight = data_of(step, "sample_weight"),
                           .class_weight = class_weights(step),
                           .reset_metrics = flag("reset_metrics", true)};
      const Data x = data_of(step, "x"), y = data_of(step, "y");
      return numbers(what == "train" ? model_.train_on_batch(x, y, o)
                                     : model_.test_on_batch(x, y, o));
    }
    if (what == "evaluate")
      return numbers(model_.evaluate(data_of(step, "x"), data_of(step, "y"),
                                     {.batch_size = number("batch_size", 32),
                                      .sample_weight = data_of(step, "sample_weight")}));
    if (what == "fit") {
      const Json* split = step.find("validation_split");
      Callbacks callbacks;
      if (const Json* folder = step.find("tensorboard"))
        callbacks.push_back(TensorBoard({.log_dir = folder->as_string("tensorboard")}));
      if (const Json* list = step.find("callbacks"))
        for (const Json& c : list->as_list("callbacks"))
          callbacks.push_back(callback_from(c, events_));
      return history_of(
          model_.fit(data_of(step, "x"), data_of(step, "y"),
                     {.batch_size = number("batch_size", 32),
                      .epochs = number("epochs", 1),
                      .verbose = static_cast<int>(number("verbose", 0)),
                      .callbacks = callbacks,
                      .validation_split = split ? split->as_number("validation_split") : 0.0,
                      .shuffle = false,
                      .class_weight = class_weights(step),
                      .sample_weight = data_of(step, "sample_weight")}));
    }
    if (what == "events") return *events_;
    throw ValueError("step: do must be a known word; got \"" + what + "\".");
  }

 private:
  Model model_;
  std::shared_ptr<Json::List> events_ = std::make_shared<Json::List>();
};

Json run(const Json& test) {
  Runner runner;
  Json::List results;
  for (const Json& step : test.as_list("steps")) results.push_back(runner(step));
  return results;
}

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, run); }
