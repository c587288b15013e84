// Models: training, callbacks, files, and what they refuse.
#include <gtest/gtest.h>
#include <horngate/keras.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "error_of.h"

namespace horngate::keras {
namespace {

using testing::error_of;

struct Samples {
  Array x, y;
};

/// Points, and on which side of a line they lie.
Samples samples(int64_t n) {
  Samples s{Array(DType::float32, {n, 2}), Array(DType::float32, {n, 1})};
  for (int64_t i = 0; i < n; ++i) {
    const float a = static_cast<float>(i % 17) / 17, b = static_cast<float>(i % 11) / 11;
    s.x.data<float>()[2 * i] = a;
    s.x.data<float>()[2 * i + 1] = b;
    s.y.data<float>()[i] = a > b ? 1.0f : 0.0f;
  }
  return s;
}

Sequential classifier() {
  Sequential net(
      {Dense(16, {.activation = "relu", .input_shape = {2}}), Dense(1, {.activation = "sigmoid"})});
  net.compile({.optimizer = Adam({.learning_rate = 0.02}),
               .loss = "binary_crossentropy",
               .metrics = {"accuracy"}});
  return net;
}

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)).string();
}

TEST(Sequential, EmptyHandlesAreErrors) {
  Layer dense = Dense(3);
  const Layer taken = std::move(dense);
  for (const Layer& empty : {dense, Layer()}) {
    EXPECT_EQ(error_of([&] { (void)Sequential({empty}); }), "layer: this handle holds no layer.");
    EXPECT_EQ(error_of([&] { Sequential({taken}).add(empty); }),
              "layer: this handle holds no layer.");
  }
}

TEST(Fit, Learns) {
  const Samples s = samples(500);
  const Sequential net = classifier();
  const History history =
      net.fit(s.x, s.y, {.epochs = 30, .verbose = 0, .validation_split = 0.2, .shuffle_seed = 1});
  EXPECT_EQ(history["loss"].size(), 30u);
  EXPECT_LT(history["loss"].back(), 0.5 * history["loss"][0]);
  EXPECT_GT(net.evaluate(s.x, s.y)[1], 0.9);
  EXPECT_EQ(net.metrics_names(), (std::vector<std::string>{"loss", "accuracy"}));
  EXPECT_EQ(net.predict(s.x, {.batch_size = 33}).dims(), (Ints{500, 1}));
}

TEST(Fit, CallbacksStopAndRestore) {
  const Samples s = samples(100);
  const Sequential net = classifier();
  int64_t epochs = 0, batches = 0;
  const Callback count = LambdaCallback(
      {.on_epoch_end = [&](int64_t, Logs&) { ++epochs; },
       .on_batch_end = [&](int64_t,
                           const Logs& logs) { batches += logs.find("loss") != nullptr; }});
  const Callback stop = EarlyStopping(
      {.monitor = "loss", .min_delta = 1e9, .patience = 2, .restore_best_weights = true});
  (void)net.fit(s.x, s.y,
                {.batch_size = 30, .epochs = 20, .verbose = 0, .callbacks = {count, stop}});
  EXPECT_EQ(epochs, 3);  // the first counts as better than nothing
  EXPECT_EQ(batches, 12);
  (void)net.fit(
      s.x, s.y,
      {.epochs = 2, .verbose = 0, .callbacks = {LearningRateScheduler([](int64_t e, double) {
                                    return 0.5 / static_cast<double>(e + 1);
                                  })}});
  EXPECT_FLOAT_EQ(get_value(net.optimizer().learning_rate()).item<float>(), 0.25f);
}

TEST(Fit, ACsvFileHasALinePerEpoch) {
  const Samples s = samples(40);
  const std::string path = temporary("log.csv");
  (void)classifier().fit(s.x, s.y, {.epochs = 3, .verbose = 0, .callbacks = {CSVLogger(path)}});
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "epoch,accuracy,loss");
  EXPECT_EQ(lines[3][0], '2');
  std::filesystem::remove(path);
}

TEST(Fit, GeneratorsGiveBatches) {
  const Samples s = samples(60);
  const Sequential net = classifier();
  int64_t given = 0;
  const Generator generator = [&]() -> std::optional<Batch> {
    const int64_t begin = given++ % 6 * 10;
    return Batch{s.x.rows(begin, begin + 10), s.y.rows(begin, begin + 10)};
  };
  const History history =
      net.fit_generator(generator, {.steps_per_epoch = 6, .epochs = 2, .verbose = 0});
  EXPECT_EQ(given, 12);
  EXPECT_EQ(history["loss"].size(), 2u);
}

TEST(Fit, RangesAreGenerators) {
  const Samples s = samples(40);
  const Sequential net = classifier(), other = classifier();
  other.set_weights(net.get_weights());
  std::vector<Batch> batches;
  for (int64_t i = 0; i < 40; i += 10)
    batches.push_back({s.x.rows(i, i + 10), s.y.rows(i, i + 10)});
  // The same as with arrays; without steps once through.
  const std::vector<double> wanted = net.evaluate(s.x, s.y, {.batch_size = 10});
  const std::vector<double> whole = net.evaluate_generator(batches);
  ASSERT_EQ(whole.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(whole[i], wanted[i], 1e-6);
  EXPECT_NEAR(net.evaluate_generator(batches, 2)[0],
              net.evaluate(s.x.rows(0, 20), s.y.rows(0, 20))[0], 1e-6);
  // Sizes of batches may differ in the last digit.
  EXPECT_EQ(net.predict_generator(batches)[0].to_vector<float>(),
            net.predict(s.x, {.batch_size = 10}).to_vector<float>());
  EXPECT_EQ(net.predict_generator(batches, 3)[0].dims()[0], 30);
  EXPECT_EQ(net.predict_on_batch(s.x).to_vector<float>(),
            net.predict(s.x, {.batch_size = 40}).to_vector<float>());
  (void)net.fit_generator(batches, {.epochs = 2, .verbose = 0});
  (void)other.fit(s.x, s.y, {.batch_size = 10, .epochs = 2, .verbose = 0, .shuffle = false});
  for (size_t i = 0; i < net.get_weights().size(); ++i)
    EXPECT_EQ(net.get_weights()[i].to_vector<float>(), other.get_weights()[i].to_vector<float>());
}

TEST(Fit, TheFirstBatchMayTellTheShape) {
  const Samples s = samples(40);
  std::vector<Batch> batches;
  for (int64_t i = 0; i < 40; i += 10)
    batches.push_back({s.x.rows(i, i + 10), s.y.rows(i, i + 10)});
  const auto made = [] {
    const Sequential net({Dense(4, {.kernel_initializer = "ones"}), Dense(1)});
    net.compile({.loss = "mse", .metrics = {"mae"}});
    return net;
  };
  const Sequential net = made(), other = made(), third = made();
  const History history = net.fit_generator(batches, {.epochs = 2, .verbose = 0});
  EXPECT_EQ(history["mae"].size(), 2u);
  const std::vector<double> values = other.evaluate_generator(batches);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_NEAR(values[1], other.evaluate(s.x, s.y)[1], 1e-5);
  EXPECT_EQ(third.predict_generator(batches)[0].dims(), (Ints{40, 1}));
  EXPECT_EQ(error_of([&] {
              (void)made().fit_generator([] { return std::optional<Batch>(); },
                                         {.steps_per_epoch = 1, .verbose = 0});
            }),
            "fit_generator: a Sequential without input_shape needs a batch to begin with; the "
            "generator gave none.");
}

TEST(Predict, SeveralOutputsAreAskedForByName) {
  const Value x = Input({.shape = {3}});
  const Model two(x, {Dense(2)(x), Dense(1)(x)}, {.name = "two"});
  const Array a = Array::zeros(DType::float32, {4, 3});
  EXPECT_EQ(two.predict_all_on_batch(a).size(), 2u);
  EXPECT_EQ(error_of([&] { (void)two.predict(a); }),
            "predict: model two has 2 outputs; use predict_all.");
  EXPECT_EQ(error_of([&] { (void)two.predict_on_batch(a); }),
            "predict_on_batch: model two has 2 outputs; use predict_all_on_batch.");
}

TEST(Layers, OfBodiesWithoutANameGetOne) {
  struct Twice : Body {
    std::string class_name() const override { return "TwiceAsMuch"; }
    Tensors call(Call& c) override { return {c.x() * 2}; }
  };
  const Layer layer{std::make_shared<Twice>()};
  EXPECT_TRUE(layer.name().starts_with("twice_as_much_")) << layer.name();
}

TEST(Predict, FromManyThreads) {
  const Samples s = samples(64);
  const Sequential net = classifier();
  const std::vector<float> wanted = net.predict(s.x).to_vector<float>();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) wrong += net.predict(s.x).to_vector<float>() != wanted;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

/// Calls f from several threads at once, and gives what it threw, if anything.
template <class F>
std::string at_once(int count, const F& f) {
  std::atomic<int> waiting{count};
  std::vector<std::string> errors(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      try {
        f(t);
      } catch (const std::exception& e) {
        errors[static_cast<size_t>(t)] = e.what();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& error : errors)
    if (!error.empty()) return error;
  return {};
}

TEST(Predict, TheFirstCallsMayComeFromManyThreads) {
  const Samples s = samples(16);
  for (int round = 0; round < 50; ++round) {
    // Without an input_shape the first data tell the shape.
    const Sequential net({Dense(4, {.activation = "relu"}), BatchNormalization(), Dense(1)});
    std::vector<std::vector<float>> results(4);
    EXPECT_EQ(
        at_once(4,
                [&](int t) {
                  results[static_cast<size_t>(t)] =
                      (t % 2 ? net.predict(s.x) : net.predict_on_batch(s.x)).to_vector<float>();
                }),
        "");
    ASSERT_EQ(net.layers().size(), 3u);
    ASSERT_EQ(net.weights().size(), 8u);
    for (const std::vector<float>& result : results)
      ASSERT_EQ(result, net.predict(s.x).to_vector<float>());
  }
}

TEST(Predict, TheFirstCallsMayComeWhileOthersTrainAndEvaluate) {
  const Samples s = samples(16);
  for (int round = 0; round < 50; ++round) {
    const Sequential net({Dense(4, {.activation = "relu"}), Dense(1)});
    net.compile({.loss = "mse", .metrics = {"mae"}});
    std::vector<double> values;
    EXPECT_EQ(at_once(4,
                      [&](int t) {
                        if (t == 0) (void)net.train_on_batch(s.x, s.y);
                        if (t == 1) values = net.evaluate(s.x, s.y);
                        if (t > 1) (void)net.predict(s.x);
                      }),
              "");
    ASSERT_EQ(values.size(), 2u);
    EXPECT_TRUE(net.is_compiled());
  }
}

TEST(Evaluate, FromManyThreads) {
  const Samples s = samples(64);
  for (int round = 0; round < 20; ++round) {
    const Sequential net({Dense(4, {.activation = "relu"}), Dense(1)});
    net.compile({.loss = "mse", .metrics = {"mae"}});
    std::vector<std::vector<double>> values(4);
    EXPECT_EQ(at_once(4,
                      [&](int t) {
                        values[static_cast<size_t>(t)] = net.evaluate(s.x, s.y, {.batch_size = 16});
                      }),
              "");
    for (const std::vector<double>& v : values)
      ASSERT_EQ(v, net.evaluate(s.x, s.y, {.batch_size = 16}));
  }
}

TEST(Models, AreMadeInManyThreads) {
  const Samples s = samples(16);
  EXPECT_EQ(
      at_once(4,
              [&](int) {
                for (int i = 0; i < 20; ++i) {
                  const Sequential net = classifier();
                  (void)net.train_on_batch(s.x, s.y);
                  const Model again = model_from_json(net.to_json());
                  again.set_weights(net.get_weights());
                  if (again.predict(s.x).to_vector<float>() != net.predict(s.x).to_vector<float>())
                    throw ValueError("another result");
                }
              }),
      "");
}

TEST(Files, AModelComesBackAndGoesOn) {
  const Samples s = samples(80);
  const Sequential net = classifier();
  (void)net.fit(s.x, s.y, {.epochs = 2, .verbose = 0});
  const std::string path = temporary("net.h5");
  net.save(path);
  const Model again = load_model(path);
  EXPECT_EQ(again.get_config(), net.get_config());
  net.reset_metrics();  // those of fit
  EXPECT_EQ(again.train_on_batch(s.x, s.y), net.train_on_batch(s.x, s.y));
  EXPECT_EQ(again.predict(s.x).to_vector<float>(), net.predict(s.x).to_vector<float>());
  std::filesystem::remove(path);
}

TEST(Files, ConfigurationsCannotAskForMoreThanTheFileHolds) {
  const Sequential net({Dense(3, {.input_shape = {2}})});
  const std::string path = temporary("bomb.h5");
  net.save(path);
  std::string bytes((std::istreambuf_iterator<char>(*std::make_unique<std::ifstream>(path))), {});
  const size_t at = bytes.find("\"units\": 3,");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 11, "\"units\": 9,");
  std::ofstream(path) << bytes;
  EXPECT_NE(error_of([&] { (void)load_model(path); }).find("more numbers than the file holds"),
            std::string::npos);
  std::filesystem::remove(path);
}

TEST(Models, ALayerMoreIsAnotherModel) {
  const Samples s = samples(10);
  const Sequential net = classifier();
  EXPECT_EQ(net.predict(s.x).dims(), (Ints{10, 1}));
  net.add(RepeatVector(3));
  EXPECT_EQ(net.predict(s.x).dims(), (Ints{10, 3, 1}));
  EXPECT_FALSE(net.is_compiled());
}

TEST(Models, WrongCallsSayWhatToDo) {
  const Samples s = samples(10);
  const Sequential net({Dense(1, {.input_shape = {2}})});
  EXPECT_NE(error_of([&] { (void)net.fit(s.x, s.y); }).find("compiled first"), std::string::npos);
  net.compile({.loss = "mse"});
  EXPECT_EQ(error_of([&] { (void)net.fit(s.y, s.y, {.verbose = 0}); }),
            "fit: input " + net.input_names()[0] + " must have the shape (None, 2); got (10, 1).");
  EXPECT_EQ(error_of([&] { (void)net.fit(s.x, s.y.rows(0, 5), {.verbose = 0}); }),
            "fit: all arrays must have as many samples; got 10 and 5.");
  EXPECT_NE(error_of([&] { (void)net.get_layer("nobody"); }).find("must be one of dense"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)load_model("/no/such/file.h5"); }).find("/no/such/file.h5"),
            std::string::npos);
}

}  // namespace
}  // namespace horngate::keras
