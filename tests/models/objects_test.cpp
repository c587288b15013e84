// Losses, optimizers and metrics from C++: callables, objects, errors.
#include <gtest/gtest.h>

#include <horngate/keras.h>
#include <cmath>

#include "error_of.h"
#include "keras/layers/body_of.h"

namespace horngate::keras {
namespace {

using testing::error_of;

Tensor numbers(std::vector<float> values, Ints dims) { return constant(Array::of(values, dims)); }
float value_of(const Tensor& x) { return eval(x).to_vector<float>()[0]; }

TEST(Losses, AreNamesObjectsAndCallables) {
  const Tensor y = numbers({1, 2, 3, 4}, {2, 2}), p = numbers({2, 2, 3, 2}, {2, 2});
  EXPECT_FLOAT_EQ(value_of(Loss("mse")(y, p)), 1.25f);
  EXPECT_FLOAT_EQ(value_of(losses::MeanSquaredError({.reduction = Reduction::sum})(y, p)), 2.5f);
  EXPECT_FLOAT_EQ(value_of(Loss("mse")(y, p, numbers({1, 0}, {2}))), 0.25f);
  const Loss own = [](const Tensor& a, const Tensor& b) { return sum(abs(a - b), {.axis = -1}); };
  EXPECT_FLOAT_EQ(value_of(own(y, p)), 1.5f);
  EXPECT_EQ(own.config(), Json("loss"));
  EXPECT_EQ(own.function(), "");
  const Loss named("l1", [](const Tensor& a, const Tensor& b) { return sum(abs(a - b)); });
  EXPECT_EQ(named.config(), Json("l1"));
  EXPECT_EQ(named.name(), "l1");
  EXPECT_EQ(Loss("KLD").config(), Json("KLD"));
  EXPECT_EQ(Loss("KLD").name(), "kullback_leibler_divergence");
  EXPECT_FALSE(Loss());
  EXPECT_TRUE(Loss::from(nullptr, "x").config().is_null());
  const Loss huber = losses::Huber({.delta = 2});
  EXPECT_EQ(Loss::from(huber.config(), "x").config(), huber.config());
}

TEST(Losses, SayWhatIsWrong) {
  EXPECT_NE(error_of([] {
              Loss("mze");
            }).find("loss: loss must be one of mean_squared_error, mean_absolute_error"),
            std::string::npos);
  EXPECT_EQ(error_of([] {
              Loss::from(Json::parse(R"({"class_name": "Hinge", "config": {"reduction": "most"}})"),
                         "compile");
            }),
            "compile: Hinge: reduction must be \"none\", \"sum\" or \"sum_over_batch_size\"; got "
            "\"most\".");
  EXPECT_EQ(error_of([] { (void)Loss().name(); }), "loss: this handle holds no loss.");
  const Tensor y = numbers({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(error_of([&] { (void)Loss("mse")(y, y, numbers({1, 2, 3}, {3})); }),
            "loss: sample_weight must have the shape of the values, (2,), or its first axes; got "
            "(3,).");
}

TEST(Optimizers, KeepTheirState) {
  const Variable w = variable(Array::of({1.f, -2.f}), {.name = "w"});
  const Tensor loss = sum(square(w));
  const Optimizer sgd = SGD({.learning_rate = 0.25});
  EXPECT_TRUE(sgd.weights().empty());
  const Function step = function({}, {loss}, sgd.get_updates(loss, {w}));
  EXPECT_EQ(step()[0].to_vector<float>()[0], 5.f);
  EXPECT_EQ(get_value(w).to_vector<float>(), (std::vector<float>{0.5f, -1.f}));
  set_value(sgd.learning_rate(), Array(0.5f));
  step();
  EXPECT_EQ(get_value(w).to_vector<float>(), (std::vector<float>{0.f, 0.f}));
  EXPECT_EQ(sgd.get_weights()[0].to_vector<int64_t>()[0], 2);
  EXPECT_EQ(sgd.config().at("config", "x").at("learning_rate", "x"), Json(0.5));
  const Optimizer copy = sgd;
  EXPECT_EQ(copy.weights().size(), 2u);
}

TEST(Optimizers, ReadWhatFilesHave) {
  EXPECT_EQ(Optimizer("adam").config(), Json::parse(R"({"class_name": "Adam", "config": {
              "learning_rate": 0.0010000000474974513, "beta_1": 0.8999999761581421,
              "beta_2": 0.9990000128746033, "decay": 0.0, "epsilon": 1e-07, "amsgrad": false}})"));
  // "lr" of Keras 2.2, and null for epsilon of Keras 2.1.
  const Optimizer old = Optimizer::from(
      Json::parse(R"({"class_name": "RMSprop", "config": {"lr": 0.5, "epsilon": null}})"), "file");
  EXPECT_EQ(old.config().at("config", "x").at("learning_rate", "x"), Json(0.5));
  EXPECT_EQ(old.config().at("config", "x").at("epsilon", "x"), Json(1e-7));
  EXPECT_EQ(SGD({.clipnorm = 1, .clipvalue = 0.5}).config(),
            Json::parse(R"({"class_name": "SGD", "config": {"clipnorm": 1, "clipvalue": 0.5,
              "learning_rate": 0.009999999776482582, "momentum": 0, "decay": 0,
              "nesterov": false}})"));

  const Variable w = variable(Array::of({1.f, -2.f}), {.name = "w"});
  (void)old.get_updates(sum(square(w)), {w});
  old.set_weights({Array::of({3.f, 4.f})});  // before Keras 2.3: without iterations
  EXPECT_EQ(old.get_weights()[0].to_vector<int64_t>()[0], 0);
  EXPECT_EQ(old.get_weights()[1].to_vector<float>(), (std::vector<float>{3, 4}));
  const Optimizer adam = Adam(), sgd = SGD();  // tf.keras: without what stays 0
  (void)adam.get_updates(sum(square(w)), {w});
  adam.set_weights({Array(int64_t{5}), Array::of({3.f, 4.f}), Array::of({5.f, 6.f})});
  EXPECT_EQ(adam.get_weights()[2].to_vector<float>(), (std::vector<float>{5, 6}));
  EXPECT_EQ(adam.get_weights()[3].to_vector<float>(), (std::vector<float>{0}));
  (void)sgd.get_updates(sum(square(w)), {w});
  sgd.set_weights({Array(int64_t{5})});
  EXPECT_EQ(sgd.get_weights()[0].to_vector<int64_t>()[0], 5);
  const Optimizer nadam = Nadam();
  (void)nadam.get_updates(sum(square(w)), {w});
  nadam.set_weights({Array(int64_t{5}), Array::of({3.f, 4.f}), Array::of({5.f, 6.f})});
  EXPECT_EQ(nadam.get_weights()[0].to_vector<int64_t>()[0], 5);
  double product = 1;  // what five steps have made of it
  for (int t = 1; t <= 5; ++t) product *= 0.9 * (1 - 0.5 * std::pow(0.96, t * 0.004));
  EXPECT_NEAR(nadam.get_weights()[1].to_vector<float>()[0], product, 1e-7);
}

TEST(Optimizers, SayWhatIsWrong) {
  const Variable w = variable(Array::of({1.f, -2.f}), {.name = "w"});
  const Variable other = variable(Array::of({1.f}), {.name = "other"});
  const Optimizer adam = Adam();
  EXPECT_NE(error_of([&] {
              (void)adam.get_updates(sum(square(w)), {w, other});
            }).find("Adam: the loss must depend on each weight that is trained; other"),
            std::string::npos);
  (void)adam.get_updates(sum(square(w)), {w});
  EXPECT_EQ(error_of([&] { adam.set_weights({Array(int64_t{5})}); }),
            "set_weights: Adam has 4 weights; got 1.");
  EXPECT_NE(error_of([&] {
              adam.set_weights(
                  {Array(int64_t{5}), Array::of({1.f}), Array::of({1.f, 2.f}), Array::of({1.f})});
            }).find("has the shape (2,); got (1,)."),
            std::string::npos);
  EXPECT_EQ(adam.get_weights()[0].to_vector<int64_t>()[0], 0);
  EXPECT_EQ(error_of([] { Optimizer("adem"); }),
            "optimizer: optimizer must be one of SGD, RMSprop, Adagrad, Adadelta, Adam, Adamax, "
            "Nadam; got \"adem\".");
  EXPECT_EQ(error_of([] {
              Optimizer::from(
                  Json::parse(R"({"class_name": "RMSprop", "config": {"momentum": 0.9}})"), "file");
            }),
            "file: RMSprop: momentum is not an option of Keras 2.3; got 0.9.");
  EXPECT_EQ(error_of([] {
              Optimizer::from(Json::parse(R"({"class_name": "Adam", "config": {"learning_rate":
                {"class_name": "ExponentialDecay", "config": {}}}})"),
                              "file");
            }),
            "file: Adam: learning_rate must be a number; got a schedule.");
  EXPECT_EQ(error_of([] { (void)Optimizer().weights(); }),
            "optimizer: this handle holds no optimizer.");
}

/// A step of one batch: the value after it.
float after(const Metric& metric, const Tensor& y, const Tensor& p) {
  const auto updates = metric.update_state(y, p);
  return function({}, {metric.result_after(updates)}, updates)()[0].to_vector<float>()[0];
}

TEST(Metrics, SumOverBatches) {
  const Tensor y = numbers({1, 2, 3, 4}, {2, 2}), p = numbers({2, 2, 3, 2}, {2, 2});
  const Metric mae = "mae";
  EXPECT_FLOAT_EQ(after(mae, y, p), 0.75f);
  EXPECT_FLOAT_EQ(after(mae, y, y), 0.375f);
  EXPECT_FLOAT_EQ(value_of(mae.result()), 0.375f);
  const Metric other = mae.clone();
  EXPECT_FLOAT_EQ(after(other, y, p), 0.75f);
  mae.reset_states();
  EXPECT_FLOAT_EQ(after(mae, y, p), 0.75f);
  const Metric own("largest",
                   [](const Tensor& a, const Tensor& b) { return max(abs(a - b), {.axis = -1}); });
  EXPECT_FLOAT_EQ(after(own, y, p), 1.5f);
  EXPECT_FLOAT_EQ(after(own.clone(), y, p), 1.5f);
  EXPECT_EQ(own.config(), Json("largest"));
  const Metric bare = [](const Tensor& a, const Tensor& b) { return abs(a - b); };
  EXPECT_FLOAT_EQ(after(bare, y, p), 0.75f);
  EXPECT_TRUE(bare.config().is_null());
  const Metric mean = metrics::Mean();
  const auto updates = mean.update_values(y);
  EXPECT_FLOAT_EQ(function({}, {mean.result_after(updates)}, updates)()[0].to_vector<float>()[0],
                  2.5f);
}

TEST(Metrics, ObjectsHaveTheOptionsOfKeras) {
  const Tensor y = numbers({1, 0, 1, 0}, {4, 1}), p = numbers({0.9f, 0.6f, 0.3f, 0.1f}, {4, 1});
  EXPECT_FLOAT_EQ(after(metrics::Precision(), y, p), 0.5f);
  EXPECT_FLOAT_EQ(after(metrics::Recall({.thresholds = 0.2}), y, p), 1.f);
  const auto counts = metrics::TruePositives({.thresholds = {0.2, 0.5}});
  const auto updates = counts.update_state(y, p);
  EXPECT_EQ(function({}, {counts.result_after(updates)}, updates)()[0].to_vector<float>(),
            (std::vector<float>{2, 1}));
  EXPECT_FLOAT_EQ(after(metrics::BinaryAccuracy({.threshold = 0.7}), y, p), 0.75f);
  EXPECT_NEAR(after(metrics::AUC({.num_thresholds = 11}), y, p), 0.75f, 1e-6);
  // The first threshold that is as close: above 0.1, above 0.3.
  EXPECT_NEAR(after(metrics::SensitivityAtSpecificity(0.5), y, p), 1.0f, 1e-6);
  EXPECT_NEAR(after(metrics::SpecificityAtSensitivity(0.5), y, p), 0.5f, 1e-6);
  EXPECT_FLOAT_EQ(after(metrics::MeanIoU(2), y, numbers({1, 0, 1, 1}, {4, 1})),
                  (0.5f + 2.f / 3) / 2);
  EXPECT_FLOAT_EQ(after(metrics::SparseTopKCategoricalAccuracy({.k = 1}), numbers({1, 0}, {2, 1}),
                        numbers({0.1f, 0.9f, 0.2f, 0.8f}, {2, 2})),
                  0.5f);
}

TEST(Metrics, SayWhatIsWrong) {
  const Tensor y = numbers({1, 2, 3, 4}, {2, 2});
  EXPECT_NE(error_of([] { Metric("acuracy"); }).find("metric: metric must be one of"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { (void)Metric("acc").update_state(y, y); }),
            "acc: must know the loss; give the metric to compile, or use resolved.");
  EXPECT_EQ(error_of([&] { (void)metrics::Mean().update_state(y, y); }),
            "Mean: takes values, with update_values; got y_true and y_pred.");
  EXPECT_EQ(error_of([] { (void)metrics::Recall({.thresholds = {0.5, 1.5}}); }),
            "Recall: thresholds must be in [0, 1]; got 1.5.");
  EXPECT_EQ(error_of([] { (void)metrics::AUC({.curve = "ROK"}); }),
            "AUC: curve must be \"ROC\" or \"PR\"; got \"ROK\".");
  EXPECT_EQ(error_of([] { (void)metrics::AUC({.num_thresholds = 1}); }),
            "AUC: num_thresholds must be above 1; got 1.");
  EXPECT_EQ(error_of([] { (void)metrics::SensitivityAtSpecificity(2); }),
            "SensitivityAtSpecificity: specificity must be in [0, 1]; got 2.0.");
  EXPECT_EQ(error_of([] { (void)metrics::MeanIoU(0); }),
            "MeanIoU: num_classes must be positive; got 0.");
}

TEST(MergeLayers, SayWhatIsWrong) {
  const Value a = Input({.shape = {3}}), b = Input({.shape = {4}});
  EXPECT_EQ(error_of([&] { (void)Add({.name = "sum"})({a, b}); }),
            "sum: inputs must have shapes that fit; got (None, 3), (None, 4).");
  EXPECT_EQ(error_of([&] { (void)Add({.name = "sum"})(a); }),
            "sum: Add must be called on at least 2 inputs; got 1.");
  EXPECT_EQ(error_of([&] { (void)Subtract({.name = "minus"})({a, a, a}); }),
            "minus: Subtract must be called on 2 inputs; got 3.");
  EXPECT_EQ(error_of([&] { (void)Concatenate({.name = "join"})(a); }),
            "join: Concatenate must be called on at least 2 inputs; got 1.");
  EXPECT_EQ(error_of([&] { (void)Dot(1, {.name = "dot"})({a, b}); }),
            "dot: inputs must have the same size along axes=1; got shapes (None, 3), (None, 4).");
  EXPECT_EQ(error_of([&] { (void)Dot({1, 2}, {.name = "dot"})({a, b}); }),
            "dot: axes must be axes of the inputs; got axes=[1, 2] for shape (None, 4).");
  EXPECT_EQ(error_of([] { (void)Dot({1, 2, 3}); }),
            "Dot: axes must be one number or two; got [1, 2, 3].");
}

/// The configuration of a layer that another edition of Keras described.
Json read(const char* text) {
  const CustomLayers none;
  return layer_from(Json::parse(text), {none})->full_config();
}

TEST(Layers, ReadOtherEditions) {
  const Json norm = read(R"({"class_name": "BatchNormalization", "config": {"name": "b", "mode": 0,
    "axis": [3], "renorm": false, "gamma_init": "one", "beta_init": "zero"}})");
  EXPECT_EQ(norm.at("axis", "x"), Json(3));
  EXPECT_EQ(norm.at("gamma_initializer", "x").at("class_name", "x"), Json("Ones"));
  EXPECT_EQ(read(R"({"class_name": "GaussianNoise", "config": {"name": "g", "sigma": 0.5}})")
                .at("stddev", "x"),
            Json(0.5));
  EXPECT_EQ(read(R"({"class_name": "GaussianDropout", "config": {"name": "g", "p": 0.5}})")
                .at("rate", "x"),
            Json(0.5));
  EXPECT_EQ(read(R"({"class_name": "PReLU", "config": {"name": "p", "init": "one"}})")
                .at("alpha_initializer", "x")
                .at("class_name", "x"),
            Json("Ones"));
  EXPECT_EQ(read(R"({"class_name": "Merge", "config": {"name": "m", "mode": "concat",
    "mode_type": "raw", "concat_axis": 2, "dot_axes": -1}})")
                .at("axis", "x"),
            Json(2));
  EXPECT_EQ(read(R"({"class_name": "ReLU", "config": {"name": "r",
    "max_value": {"type": "ndarray", "value": 6.0}}})")
                .at("max_value", "x"),
            Json(6));
  EXPECT_EQ(error_of([] {
              read(R"({"class_name": "BatchNormalization", "config": {"name": "b", "mode": 1}})");
            }),
            "b: BatchNormalization: mode must be 0; got 1.");
  EXPECT_EQ(
      error_of([] { read(R"({"class_name": "Merge", "config": {"name": "m", "mode": "mean"}})"); }),
      "m: Merge: mode must be \"sum\", \"mul\", \"ave\", \"max\", \"concat\", \"dot\" or \"cos\"; "
      "got "
      "\"mean\".");
  EXPECT_EQ(LeakyReLU().get_config().at("alpha", "x"), Json(0.30000001192092896));
}

TEST(ActivationLayers, SayWhatIsWrong) {
  const Value open = Input({.shape = {None, 3}});
  EXPECT_EQ(error_of([] { (void)ReLU({.max_value = -1}); }),
            "ReLU: max_value must not be negative; got -1.0.");
  EXPECT_EQ(error_of([] { (void)ReLU({.negative_slope = -1}); }),
            "ReLU: negative_slope must not be negative; got -1.0.");
  EXPECT_EQ(error_of([&] { (void)PReLU({.name = "p"})(open); }),
            "p: the shape of alpha must be known; got (None, 3).");
  EXPECT_EQ(error_of([&] { (void)PReLU({.shared_axes = Ints{3}, .name = "p"})(open); }),
            "p: shared_axes must be in [1, 3); got 3.");
  EXPECT_EQ(error_of([&] { (void)BatchNormalization({.axis = 1, .name = "b"})(open); }),
            "b: the size along axis=1 must be known; got shape (None, None, 3).");
  EXPECT_EQ(error_of([&] { (void)BatchNormalization({.axis = 4, .name = "b"})(open); }),
            "b: axis must be an axis of the input; got axis=4 for shape (None, None, 3).");
}

}  // namespace
}  // namespace horngate::keras
