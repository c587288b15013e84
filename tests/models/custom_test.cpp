// What is not Keras's own: callables with and without names, own losses, metrics and optimizers, saved and loaded.
#include <gtest/gtest.h>
#include <horngate/keras.h>

#include <filesystem>

#include "error_of.h"
#include "temporary.h"

namespace horngate::keras {
namespace {

using testing::error_of;
using testing::Temporary;

const Array& points() {
  static const Array kPoints = eval(random_normal({12, 3}, {.seed = 3}));
  return kPoints;
}
const Array& targets() {
  static const Array kTargets = eval(random_normal({12, 1}, {.seed = 4}));
  return kTargets;
}

Tensor cube(const Tensor& x) {
  const Tensor t = tanh(x);
  return t * t * t;
}
Tensor sum_of_cubes(const Tensor& w) { return 0.1 * sum(abs(w * w * w)); }
Tensor halved(const Tensor& w) { return 0.5 * w; }
Array ramp(const Shape& shape, DType dtype) {
  Array a(DType::float32, shape.dims());
  for (int64_t i = 0; i < shape.size(); ++i) a.data<float>()[i] = 0.1f * static_cast<float>(i);
  return a.cast(dtype);
}

const LoadOptions& own() {
  static const LoadOptions kOwn = {.custom_activations = {{"cube", cube}},
                                   .custom_initializers = {{"ramp", ramp}},
                                   .custom_regularizers = {{"cubes", sum_of_cubes}},
                                   .custom_constraints = {{"halved", halved}}};
  return kOwn;
}

DenseOptions named() {
  return {.activation = {"cube", cube},
          .kernel_initializer = {"ramp", ramp},
          .kernel_regularizer = {"cubes", sum_of_cubes},
          .kernel_constraint = {"halved", halved},
          .name = "mine",
          .input_shape = {3}};
}

TEST(Callables, WithoutANameCannotBeSaved) {
  const auto text = [](const DenseOptions& options) {
    const Sequential net({Dense(2, options)});
    const Array before = net.predict(points());
    const Temporary file("nameless.h5");
    const std::string error = error_of<ValueError>([&] { net.save(file.path); });
    EXPECT_FALSE(std::filesystem::exists(file.path));
    EXPECT_EQ(error_of<ValueError>([&] { (void)net.to_json(); }), error);
    EXPECT_EQ(error_of<ValueError>([&] { (void)net.layers()[0].get_config(); }), error);
    // The model itself goes on.
    net.compile({.loss = "mse"});
    (void)net.fit(points(), eval(random_normal({12, 2})), {.verbose = 0});
    const Temporary weights("nameless.weights.h5");
    net.save_weights(weights.path);
    net.load_weights(weights.path);
    EXPECT_EQ(net.predict(points()).dims(), before.dims());
    return error;
  };
  EXPECT_EQ(text({.activation = cube, .name = "mine", .input_shape = {3}}),
            "mine: activation: a callable without a name cannot be saved; give it one: "
            "keras::ActivationFunction(\"my_name\", f).");
  EXPECT_EQ(text({.kernel_initializer = ramp, .name = "mine", .input_shape = {3}}),
            "mine: kernel_initializer: a callable without a name cannot be saved; give it one: "
            "keras::Initializer(\"my_name\", f).");
  EXPECT_EQ(text({.bias_regularizer = sum_of_cubes, .name = "mine", .input_shape = {3}}),
            "mine: bias_regularizer: a callable without a name cannot be saved; give it one: "
            "keras::Regularizer(\"my_name\", f).");
  EXPECT_EQ(text({.kernel_constraint = halved, .name = "mine", .input_shape = {3}}),
            "mine: kernel_constraint: a callable without a name cannot be saved; give it one: "
            "keras::WeightConstraint(\"my_name\", f).");
}

TEST(Callables, WithoutANameInsideOfOthers) {
  // Both directions compute the callable, also where Bidirectional copies the cell.
  const auto both = [](const Layer& recurrent) {
    return Sequential({Reshape({3, 1}, {.input_shape = {3}}), Bidirectional(recurrent)});
  };
  const auto layer_of = [](const ActivationFunction& f) {
    return SimpleRNN(2, {.activation = f,
                         .kernel_initializer = "ones",
                         .recurrent_initializer = "zeros",
                         .name = "inside"});
  };
  const auto cell_of = [](const ActivationFunction& f) {
    return RNN(SimpleRNNCell(2, {.activation = f,
                                 .kernel_initializer = "ones",
                                 .recurrent_initializer = "zeros",
                                 .name = "inside"}));
  };
  const std::vector<float> wanted =
      both(layer_of("exponential")).predict(points()).to_vector<float>();
  const ActivationFunction bare = [](const Tensor& x) { return exp(x); };
  for (const Layer& recurrent : {layer_of(bare), cell_of(bare)}) {
    const Sequential net = both(recurrent);
    EXPECT_EQ(net.predict(points()).to_vector<float>(), wanted);
    EXPECT_EQ(error_of<ValueError>([&] { (void)net.to_json(); }),
              "inside: activation: a callable without a name cannot be saved; give it one: "
              "keras::ActivationFunction(\"my_name\", f).");
  }
  const Sequential timed({Reshape({3, 1}, {.input_shape = {3}}),
                          TimeDistributed(Dense(2, {.activation = cube, .name = "inside"}))});
  EXPECT_TRUE(
      error_of<ValueError>([&] { (void)timed.to_json(); }).starts_with("inside: activation"));
}

TEST(Callables, WithANameComeBack) {
  const Sequential net({Dense(2, named()), Dense(1)});
  net.compile({.optimizer = "adam", .loss = "mse"});
  (void)net.train_on_batch(points(), targets());
  const Temporary file("named.h5"), again("named_again.h5");
  net.save(file.path);
  const Model loaded = load_model(file.path, own());
  EXPECT_EQ(loaded.get_config(), net.get_config());
  const Json config = loaded.layers()[0].get_config();
  EXPECT_EQ(config.at("activation", "x"), Json("cube"));
  EXPECT_EQ(config.at("kernel_initializer", "x"), Json("ramp"));
  EXPECT_EQ(config.at("kernel_regularizer", "x"), Json("cubes"));
  EXPECT_EQ(config.at("kernel_constraint", "x"), Json("halved"));
  EXPECT_EQ(loaded.predict(points()).to_vector<float>(), net.predict(points()).to_vector<float>());
  // Regularizer and constraint count in the training that goes on.
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(loaded.train_on_batch(points(), targets()), net.train_on_batch(points(), targets()));
  EXPECT_EQ(loaded.predict(points()).to_vector<float>(), net.predict(points()).to_vector<float>());
  // What was loaded is saved again under the same names.
  loaded.save(again.path);
  EXPECT_EQ(load_model(again.path, own()).get_config(), net.get_config());
}

TEST(Callables, AreAskedFor) {
  const Temporary file("asked.h5");
  const auto refused = [&](const DenseOptions& options, const char* argument, const char* text) {
    const Sequential net({Dense(2, options)});
    net.save(file.path);
    const std::string error = error_of<ValueError>([&] { (void)load_model(file.path); });
    EXPECT_TRUE(error.starts_with(file.path + ": model_config: mine: " + argument + ": ")) << error;
    EXPECT_TRUE(error.ends_with(text)) << error;
  };
  refused({.activation = {"cube", cube}, .name = "mine", .input_shape = {3}}, "activation",
          "got \"cube\". Give what is your own in custom_activations.");
  refused({.kernel_initializer = {"ramp", ramp}, .name = "mine", .input_shape = {3}},
          "kernel_initializer", "got \"ramp\". Give what is your own in custom_initializers.");
  refused({.kernel_regularizer = {"cubes", sum_of_cubes}, .name = "mine", .input_shape = {3}},
          "kernel_regularizer", "got \"cubes\". Give what is your own in custom_regularizers.");
  refused({.kernel_constraint = {"halved", halved}, .name = "mine", .input_shape = {3}},
          "kernel_constraint", "got \"halved\". Give what is your own in custom_constraints.");
  EXPECT_EQ(error_of<ValueError>([] { (void)ActivationFunction("cube"); }).find("Give"),
            std::string::npos);
}

TEST(Callables, HaveNamesOfTheirOwn) {
  const auto refused = [](const char* class_name, const char* name) {
    return std::string(class_name) +
           ": name must not be one of Keras's own, which files would mean; got \"" + name + "\".";
  };
  EXPECT_EQ(error_of<ValueError>([] { (void)ActivationFunction("relu", cube); }),
            refused("ActivationFunction", "relu"));
  EXPECT_EQ(error_of<ValueError>([] { (void)Initializer("he_normal", ramp); }),
            refused("Initializer", "he_normal"));
  EXPECT_EQ(error_of<ValueError>([] { (void)Regularizer("l2", sum_of_cubes); }),
            refused("Regularizer", "l2"));
  EXPECT_EQ(error_of<ValueError>([] { (void)WeightConstraint("non_neg", halved); }),
            refused("WeightConstraint", "non_neg"));
  EXPECT_EQ(error_of<ValueError>([] { (void)Regularizer("", sum_of_cubes); }),
            "Regularizer: name must not be empty; without one a callable cannot be saved.");
}

TEST(Callables, ReachWhatIsInside) {
  const Value x = Input({.shape = {3}});
  const Sequential inner({Dense(2, named())});
  const Layer both = Bidirectional(
      LSTM(2, {.activation = {"cube", cube}, .kernel_regularizer = {"cubes", sum_of_cubes}}));
  const Layer stack = RNN({LSTMCell(2, {.activation = {"cube", cube}}),
                           SimpleRNNCell(2, {.activation = {"cube", cube}})});
  const Value steps = TimeDistributed(Dense(2, {.activation = {"cube", cube}}))(Reshape({3, 1})(x));
  const Model net(x, {inner(x), both(steps), stack(steps)});
  const Temporary file("inside.h5");
  net.save(file.path);
  const Model loaded = load_model(file.path, own());
  const Arrays wanted = net.predict_all(points()), got = loaded.predict_all(points());
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(got[i].to_vector<float>(), wanted[i].to_vector<float>()) << i;
  const Model described = model_from_json(net.to_json(), own());
  described.set_weights(net.get_weights());
  EXPECT_EQ(described.predict_all(points())[1].to_vector<float>(), wanted[1].to_vector<float>());
  EXPECT_THROW((void)model_from_json(net.to_json()), ValueError);
}

TEST(Callables, AreGivenInSeveralSpellings) {
  const Sequential net({Dense(2, named())});
  const std::string text = net.to_json();
  const auto generic = [](const auto& x) { return tanh(x); };
  const Model model = model_from_json(
      text, {.custom_activations = {{"cube", "tanh"}, {"other", generic}},
             .custom_initializers = {{"ramp", Constant(2)}},
             .custom_regularizers = {{"cubes", [](const Json&) { return l2(0.5); }}},
             .custom_constraints = {{"halved", WeightConstraint("own", halved)}}});
  const Json config = model.layers()[0].get_config();
  EXPECT_EQ(config.at("activation", "x"), Json("tanh"));
  EXPECT_EQ(config.at("kernel_initializer", "x").at("class_name", "x"), Json("Constant"));
  EXPECT_EQ(config.at("kernel_regularizer", "x").at("class_name", "x"), Json("L1L2"));
  EXPECT_EQ(config.at("kernel_constraint", "x"), Json("own"));
  EXPECT_EQ(model_from_json(Sequential({Dense(1)}).to_json(), {}, {}).layers().size(), 1u);
}

TEST(Callables, OfClassesAreMadeFromTheirOptions) {
  const auto powers = [](double p) {
    Json options, config;
    options.set("p", p);
    config.set("class_name", "Powers");
    config.set("config", options);
    return Regularizer(config, [p](const Tensor& w) { return sum(pow(abs(w), p)); });
  };
  const Sequential net({Dense(
      1, {.kernel_initializer = "ones", .kernel_regularizer = powers(3), .input_shape = {3}})});
  const Temporary file("class.h5");
  net.save(file.path);
  double seen = 0;
  const LoadOptions given = {
      .custom_regularizers = {{"Powers", [&](const Json& options) {
                                 seen = options.at("p", "Powers").as_number("p");
                                 return powers(seen);
                               }}}};
  EXPECT_EQ(load_model(file.path, given).get_config(), net.get_config());
  EXPECT_EQ(seen, 3);
}

TEST(Callables, ComeBeforeKerasOwnNames) {
  const Sequential net({Dense(1, {.activation = "relu", .input_shape = {3}})});
  const Temporary file("before.h5");
  net.save(file.path);
  const Model loaded = load_model(
      file.path, {.custom_activations = {{"relu", [](const Tensor& x) { return 0.0 * x - 7.0; }}}});
  EXPECT_EQ(loaded.predict(points()).to_vector<float>(), std::vector<float>(12, -7.f));
  EXPECT_EQ(loaded.layers()[0].get_config().at("activation", "x"), Json("relu"));
  // Nothing of it stays.
  EXPECT_EQ(load_model(file.path).predict(points()).to_vector<float>(),
            net.predict(points()).to_vector<float>());
}

// ---- Optimizers

/// Momentum, with a rate that files keep.
struct Rolling : OptimizerBody {
  explicit Rolling(double given) : rate(given) {}
  double rate;
  std::string class_name() const override { return "Rolling"; }
  Json config() const override {
    Json config;
    config.set("rate", rate);
    return config;
  }
  std::vector<Update> get_updates(const Tensor& loss,
                                  const std::vector<Variable>& params) override {
    const Tensors grads = gradients_of(loss, params);
    std::vector<Update> updates;
    weights_.clear();
    for (size_t i = 0; i < params.size(); ++i) {
      weights_.push_back(variable(Array::zeros(DType::float32, params[i].shape().dims())));
      const Tensor speed = 0.9 * weights_.back() - rate * grads[i];
      updates.push_back(update(weights_.back(), speed));
      updates.push_back(update(params[i], params[i] + speed));
    }
    return updates;
  }
};

TEST(Optimizers, OfOnesOwnComeBackWithTheirState) {
  const Sequential net({Dense(4, {.activation = "tanh", .input_shape = {3}}), Dense(1)});
  net.compile({.optimizer = Optimizer(std::make_shared<Rolling>(0.03)), .loss = "mse"});
  for (int i = 0; i < 3; ++i) (void)net.train_on_batch(points(), targets());
  const Temporary file("rolling.h5");
  net.save(file.path);
  const Model loaded = load_model(
      file.path, {.custom_optimizers = {{"Rolling", [](const Json& options) {
                                           return Optimizer(std::make_shared<Rolling>(
                                               options.at("rate", "Rolling").as_number("rate")));
                                         }}}});
  EXPECT_EQ(loaded.optimizer().config(), net.optimizer().config());
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(loaded.train_on_batch(points(), targets()), net.train_on_batch(points(), targets()));
  EXPECT_EQ(error_of<ValueError>([&] { (void)load_model(file.path); }),
            file.path +
                ": training_config: optimizer must be one of SGD, RMSprop, Adagrad, Adadelta, "
                "Adam, Adamax, Nadam; got \"Rolling\". Give what is your own in "
                "custom_optimizers.");
  EXPECT_FALSE(load_model(file.path, {.compile = false}).is_compiled());
}

// ---- Losses and metrics

/// The mean of |y_true - y_pred|^power.
struct Distance : MetricBody {
  explicit Distance(double given) : power(given) {}
  double power;
  Variable total, count;
  std::string class_name() const override { return "Distance"; }
  void build() override { total = add_weight("total"), count = add_weight("count"); }
  std::vector<Update> update_state(const Tensor& y_true, const Tensor& y_pred,
                                   const Tensor&) override {
    const Tensor values = pow(abs(y_true - y_pred), power);
    return {update_add(total, sum(values)), update_add(count, sum(ones_like(values)))};
  }
  Tensor result() const override { return total / count; }
  Json config() const override {
    Json config = Json::Object();
    config.set("power", power);
    return config;
  }
  std::shared_ptr<MetricBody> fresh() const override { return std::make_shared<Distance>(power); }
};

Metric distance(double power, const std::string& name) {
  const auto body = std::make_shared<Distance>(power);
  body->set_options({.name = name});
  return Metric(body);
}

Loss power_loss(double power, Reduction reduction) {
  Json options, config;
  options.set("power", power);
  options.set("reduction", reduction_name(reduction));
  options.set("name", "powers");
  config.set("class_name", "PowerLoss");
  config.set("config", options);
  return Loss(Loss::Shared{.config = config,
                           .name = "powers",
                           .function = {},
                           .reduction = reduction,
                           .call = [power](const Tensor& y_true, const Tensor& y_pred) {
                             return mean(pow(abs(y_true - y_pred), power), {.axis = -1});
                           }});
}

TEST(LossesAndMetrics, OfClassesOfOnesOwnComeBack) {
  const Sequential net({Dense(1, {.input_shape = {3}})});
  net.compile({.loss = power_loss(3, Reduction::sum),
               .metrics = {distance(3, "far"), distance(1, "near"), "mae"},
               .weighted_metrics = {distance(2, "weighted")}});
  const Temporary file("classes.h5");
  net.save(file.path);
  const auto make_loss = [](const Json& options) {
    return power_loss(
        options.at("power", "PowerLoss").as_number("power"),
        options.at("reduction", "PowerLoss") == Json("sum") ? Reduction::sum : Reduction::none);
  };
  const auto make_metric = [](const Json& options) {
    return Metric(std::make_shared<Distance>(options.at("power", "Distance").as_number("power")));
  };
  const Model loaded = load_model(file.path, {.custom_losses = {{"PowerLoss", make_loss}},
                                              .custom_metrics = {{"Distance", make_metric}}});
  EXPECT_EQ(loaded.metrics_names(), net.metrics_names());
  EXPECT_EQ(loaded.metrics_names(),
            (std::vector<std::string>{"loss", "far", "near", "mae", "weighted"}));
  EXPECT_EQ(loaded.evaluate(points(), targets()), net.evaluate(points(), targets()));
  // An object stands for each use of its class.
  const Model cubes =
      load_model(file.path, {.custom_losses = {{"PowerLoss", power_loss(3, Reduction::sum)}},
                             .custom_metrics = {{"Distance", distance(3, "other")}}});
  EXPECT_EQ(cubes.metrics_names(), net.metrics_names());
  const std::vector<double> values = cubes.evaluate(points(), targets());
  EXPECT_EQ(values[1], net.evaluate(points(), targets())[1]);
  EXPECT_EQ(values[2], values[1]);
  // A callable takes name and reduction from the file, and is saved as it was there.
  const auto call = [](const Tensor& y_true, const Tensor& y_pred) {
    return mean(pow(abs(y_true - y_pred), 3.0), {.axis = -1});
  };
  const Model called = load_model(
      file.path, {.custom_losses = {{"PowerLoss", call}}, .custom_metrics = {{"Distance", call}}});
  EXPECT_EQ(called.evaluate(points(), targets())[0], net.evaluate(points(), targets())[0]);
  const Temporary again("classes_again.h5");
  called.save(again.path);
  EXPECT_EQ(load_model(again.path, {.custom_losses = {{"PowerLoss", make_loss}},
                                    .custom_metrics = {{"Distance", make_metric}}})
                .evaluate(points(), targets()),
            net.evaluate(points(), targets()));
  EXPECT_TRUE(error_of<ValueError>([&] {
                (void)load_model(file.path, {.custom_losses = {{"PowerLoss", call}}});
              }).ends_with("got \"Distance\". Give what is your own in custom_metrics."));
}

TEST(LossesAndMetrics, OfFunctionsKeepTheirNames) {
  const auto call = [](const Tensor& y_true, const Tensor& y_pred) {
    return mean(abs(y_true - y_pred), {.axis = -1});
  };
  const Sequential net({Dense(1, {.input_shape = {3}})});
  net.compile({.loss = Loss("far", call), .metrics = {Metric("near", call)}});
  const Temporary file("functions.h5"), again("functions_again.h5");
  net.save(file.path);
  const LoadOptions given = {.custom_losses = {{"far", call}}, .custom_metrics = {{"near", call}}};
  const Model loaded = load_model(file.path, given);
  EXPECT_EQ(loaded.metrics_names(), net.metrics_names());
  loaded.save(again.path);
  EXPECT_EQ(load_model(again.path, given).evaluate(points(), targets()),
            net.evaluate(points(), targets()));
}

}  // namespace
}  // namespace horngate::keras
