// Whole models in .safetensors: all of them comes back, and what is wrong with metadata is named.
#include <gtest/gtest.h>
#include <horngate/keras.h>

#include <filesystem>

#include "error_of.h"
#include "files/safetensors.h"
#include "temporary.h"

namespace horngate::keras {
namespace {

using testing::error_of;
using testing::Temporary;
namespace st = files::safetensors;

Array points() { return eval(random_normal({20, 6}, {.seed = 1})); }
Array targets() { return eval(random_normal({20, 2}, {.seed = 2})); }

/// A graph with a model inside, recurrent, shared and frozen layers.
Model graph() {
  const Sequential inner({Dense(6, {.name = "narrow", .input_shape = {6}}),
                          Dense(6, {.name = "wide"}), PReLU({.name = "bent"})},
                         {.name = "inner"});
  inner.layers()[0].set_trainable(false);
  const Value x = Input({.shape = {6}, .name = "x"});
  const Layer shared = Dense(6, {.activation = "tanh", .name = "shared"});
  const Value y = BatchNormalization({.name = "even"})(shared(shared(x)));
  const Value steps = Reshape({3, 2}, {.name = "steps"})(inner(y));
  const Value z = Bidirectional(GRU(3, {.name = "gru"}), {.name = "both"})(steps);
  return Model(x, Dense(2, {.kernel_regularizer = "l2", .name = "last"})(z), {.name = "graph"});
}

void expect_equal(const Arrays& a, const Arrays& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].dtype(), b[i].dtype());
    EXPECT_EQ(a[i].dims(), b[i].dims());
    EXPECT_EQ(a[i].to_vector<double>(), b[i].to_vector<double>()) << i;
  }
}

TEST(WholeSafetensors, TrainingGoesOnAsIfNothingHadHappened) {
  for (const char* optimizer : {"adam", "rmsprop", "nadam", "sgd"}) {
    const Model net = graph();
    net.compile({.optimizer = optimizer, .loss = "mse", .metrics = {"mae"}});
    for (int i = 0; i < 3; ++i) (void)net.train_on_batch(points(), targets());
    const Temporary file("whole.safetensors"), h5("whole.h5");
    net.save(file.path), net.save(h5.path);
    const Model again = load_model(file.path), other = load_model(h5.path);
    EXPECT_EQ(again.get_config(), net.get_config());
    EXPECT_EQ(again.compiled().optimizer.config(), net.optimizer().config());
    EXPECT_EQ(again.metrics_names(), net.metrics_names());
    expect_equal(again.get_weights(), net.get_weights());
    for (const Model* m : {&again, &net, &other})
      EXPECT_EQ(m->predict(points()).to_vector<float>(), net.predict(points()).to_vector<float>());
    std::vector<std::vector<double>> wanted, got, of_h5;
    for (int i = 0; i < 3; ++i) {
      wanted.push_back(net.train_on_batch(points(), targets()));
      got.push_back(again.train_on_batch(points(), targets()));
      of_h5.push_back(other.train_on_batch(points(), targets()));
    }
    EXPECT_EQ(got, wanted) << optimizer;
    EXPECT_EQ(of_h5, wanted) << optimizer;
    expect_equal(again.get_weights(), net.get_weights());
    expect_equal(again.optimizer().get_weights(), net.optimizer().get_weights());
  }
}

TEST(WholeSafetensors, OfAFrozenModelInsideOfAnother) {
  const Sequential judge({LSTM(3, {.name = "lstm", .input_shape = {2, 3}}),
                          BatchNormalization({.name = "even"}), Dense(2, {.name = "dense"})},
                         {.name = "judge"});
  judge.set_trainable(false);
  const Sequential net({Dense(6, {.input_shape = {6}}), Reshape({2, 3}), judge});
  const Temporary file("frozen.safetensors");
  net.save(file.path);
  const Model again = load_model(file.path);
  EXPECT_EQ(again.predict(points()).to_vector<float>(), net.predict(points()).to_vector<float>());
}

TEST(WholeSafetensors, WithoutTrainingOrWeights) {
  const Temporary file("plain.safetensors");
  const Model net = graph();
  net.save(file.path);
  EXPECT_FALSE(load_model(file.path).is_compiled());
  net.compile({.optimizer = "adam", .loss = "mse"});
  net.save(file.path);  // before the first step
  EXPECT_TRUE(load_model(file.path).is_compiled());
  EXPECT_FALSE(load_model(file.path, {.compile = false}).is_compiled());
  (void)net.train_on_batch(points(), targets());
  net.save(file.path, {.include_optimizer = false});
  EXPECT_FALSE(load_model(file.path).is_compiled());
  const Sequential none({Flatten({.input_shape = {2, 3}})});
  none.save(file.path);
  EXPECT_EQ(load_model(file.path).count_params(), 0);
}

TEST(WholeSafetensors, WeightsAreTakenFromIt) {
  const Temporary file("whole.safetensors");
  const Model net = graph(), other = graph(), third = graph();
  net.compile({.optimizer = "adam", .loss = "mse"});
  (void)net.train_on_batch(points(), targets());
  net.save(file.path);
  other.load_weights(file.path);
  expect_equal(other.get_weights(), net.get_weights());
  third.load_weights(file.path, {.by_name = true});
  expect_equal(third.get_weights(), net.get_weights());
}

TEST(WholeSafetensors, WeightsAloneAreNoModel) {
  const Temporary file("alone.safetensors");
  graph().save_weights(file.path);
  EXPECT_EQ(error_of<ValueError>([&] { (void)load_model(file.path); }),
            file.path +
                ": has no model_config: weights alone, perhaps; make the model and use "
                "load_weights.");
}

// ---- Hostile files

struct Parts {
  std::vector<st::Input> tensors;
  st::Metadata metadata;
  std::vector<std::vector<std::byte>> held;
};

/// A good file with changes.
template <class F>
std::string error_with(const F& change) {
  static const Temporary good("good.safetensors");
  if (!std::filesystem::exists(good.path)) {
    const Sequential net({Dense(3, {.name = "a", .input_shape = {6}}), Dense(2, {.name = "b"})},
                         {.name = "net"});
    net.compile({.optimizer = "rmsprop", .loss = "mse"});
    (void)net.train_on_batch(points(), targets());
    net.save(good.path);
  }
  const st::Reader reader(good.path);
  Parts parts{.tensors = {}, .metadata = reader.metadata(), .held = {}};
  for (const st::Tensor& t : reader.tensors()) {
    parts.held.emplace_back(t.bytes);
    reader.read(t, parts.held.back());
  }
  for (size_t i = 0; i < reader.tensors().size(); ++i) {
    const st::Tensor& t = reader.tensors()[i];
    parts.tensors.push_back({t.name, t.dtype, t.dims, parts.held[i]});
  }
  change(parts);
  const Temporary bad("bad.safetensors");
  st::save(bad.path, parts.tensors, parts.metadata);
  std::string error = error_of<Error>([&] { (void)load_model(bad.path); });
  if (const size_t at = error.find(bad.path); at == 0)
    error = "FILE" + error.substr(bad.path.size());
  return error;
}

std::string error_with(const char* name, const char* text) {
  return error_with([&](Parts& parts) { parts.metadata[name] = text; });
}

std::string error_replacing(const char* name, const std::string& from, const std::string& to) {
  return error_with([&](Parts& parts) {
    std::string& text = parts.metadata.at(name);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, from.size(), to);
  });
}

void erase(Parts& parts, const char* name) {
  std::erase_if(parts.tensors, [&](const st::Input& t) { return t.name == name; });
}

TEST(WholeSafetensors, HostileMetadataAreNamed) {
  EXPECT_EQ(error_with([](Parts&) {}), "nothing was thrown");
  EXPECT_EQ(
      error_with("model_config", ""),
      "FILE: model_config: at byte 0 (line 1, column 1): there must be a value; got the end of "
      "the text.");
  const std::pair<std::string, const char*> cases[] = {
      {error_with("model_config", "[]"), "FILE: model_config: "},
      {error_with("model_config", "{\"class_name\": \"Dense\", \"config\": {\"units\": 3}}"),
       "FILE: model_config: class_name must be Model or Sequential"},
      {error_with("model_config", std::string(10'000, '[').c_str()), "FILE: model_config: "},
      {error_replacing("model_config", "\"units\": 3", "\"units\": 2147483648"),
       "FILE: model_config: a: kernel has the shape (6, 2147483648) in the configuration, more "
       "numbers than the file holds."},
      {error_replacing("model_config", "\"units\": 3", "\"units\": 2"), "FILE: layer a: a/kernel"},
      {error_with("layers", "{}"), "FILE: layers must be a list; got an object."},
      {error_with("layers", "[1]"), "FILE: layers: has no \"name\"."},
      {error_with("layers", R"([{"name": "a"}])"), "FILE: layers: has no \"weights\"."},
      {error_with("layers", R"([{"name": "a", "weights": 7}])"),
       "FILE: layers: weights must be a list; got a number."},
      {error_with("layers", R"([{"name": "a", "weights": ["nothing:0"]}])"),
       "FILE: there is no tensor \"a|nothing:0\"."},
      {error_with("layers", R"([{"name": "a", "weights": ["a/kernel:0", "a/kernel:0"]}])"),
       "FILE: layers: weights must have each tensor once; got \"a|a/kernel:0\" twice."},
      {error_with("layers", "[]"),
       "FILE: model_config: a: kernel has the shape (6, 3) in the "
       "configuration, more numbers than the file holds."},
      {error_with([](Parts& p) { p.metadata.erase("layers"); }),
       "FILE: has no metadata \"layers\", so it was not written by save or save_weights."},
      {error_with([](Parts& p) { p.metadata.erase("model_config"); }),
       "FILE: has no model_config: "},
      {error_with([](Parts& p) { erase(p, "a|a/bias:0"); }),
       "FILE: there is no tensor \"a|a/bias:0\"."},
      {error_with("training_config", "{"), "FILE: training_config: at byte "},
      {error_with("training_config", "{}"), "FILE: training_config: has no \"optimizer_config\"."},
      {error_with("training_config",
                  R"({"optimizer_config": {"class_name": "Own", "config": {}}, "loss": "mse"})"),
       "FILE: training_config: optimizer must be one of "},
      {error_with("optimizer_weights", "7"),
       "FILE: optimizer_weights must be a list; got a number."},
      {error_with("optimizer_weights", "[\"nothing\"]"),
       "FILE: there is no tensor \"optimizer_weights|nothing\"."},
      {error_with("optimizer_weights",
                  R"(["training/RMSprop/variable_1:0", "training/RMSprop/variable_1:0"])"),
       "FILE: optimizer_weights must have each tensor once; got "
       "\"optimizer_weights|training/RMSprop/variable_1:0\" twice."},
      {error_replacing("optimizer_weights", "_1:0", "_2:0"), "must have each tensor once"},
  };
  for (const auto& [error, wanted] : cases)
    EXPECT_NE(error.find(wanted), std::string::npos) << error << "\nwanted: " << wanted;
}

TEST(WholeSafetensors, StatesOfOtherWeightsBeginAnew) {
  // As with .h5: said on standard error, and the model is there.
  EXPECT_EQ(error_with("optimizer_weights", "[]"), "nothing was thrown");
  EXPECT_NE(error_with([](Parts& p) {
              for (st::Input& t : p.tensors)
                if (t.name == "optimizer_weights|training/RMSprop/variable_1:0") t.dims = {3, 6};
            }).find("FILE: optimizer_weights: set_weights: "),
            std::string::npos);
}

}  // namespace
}  // namespace horngate::keras
