// Layers, graphs of them, and their configurations.
#include <gtest/gtest.h>
#include <horngate/keras.h>

#include "keras/names.h"
#include "keras/network.h"

namespace horngate::keras {
namespace {

TEST(Names, AreThoseOfKeras) {
  EXPECT_EQ(snake_case("Dense"), "dense");
  EXPECT_EQ(snake_case("Conv2D"), "conv2d");
  EXPECT_EQ(snake_case("BatchNormalization"), "batch_normalization");
  EXPECT_EQ(snake_case("LSTM"), "lstm");
  EXPECT_EQ(snake_case("ConvLSTM2DCell"), "conv_lst_m2d_cell");
  EXPECT_EQ(snake_case("GlobalMaxPooling1D"), "global_max_pooling1d");
  EXPECT_EQ(snake_case("PReLU"), "p_re_lu");
  EXPECT_EQ(snake_case("LeakyReLU"), "leaky_re_lu");
}

TEST(Configs, JsonComesBack) {
  const char* text =
      R"({"a": [1, 2.5, null, true, "x\n\u00e4\ud83d\ude00"], "b": {"c": -0.001, "d": NaN}})";
  const Json j = Json::parse(text);
  EXPECT_EQ(Json::parse(j.dump()), j);
  for (const char* bad : {"", "{", "[1,]", "{\"a\" 1}", "01x", "\"\\x\"", "[1] 2",
                          "{\"a\":1,\"a\":2}", "nul", "+1", ".5"})
    EXPECT_THROW((void)Json::parse(bad), ValueError) << bad;
  EXPECT_THROW((void)Json::parse(std::string(10'000, '[')), ValueError);
}

TEST(Models, ADenseLayerComputes) {
  const Value x = Input({.shape = {3}});
  const Layer dense = Dense(2, {.kernel_initializer = "ones", .bias_initializer = Constant(0.5)});
  const Value y = dense(x);
  const Function f = function({x}, {y});
  EXPECT_EQ(f({Array::of({1.f, 2.f, 3.f}, {1, 3})})[0].to_vector<float>(),
            (std::vector<float>{6.5, 6.5}));
  EXPECT_EQ(dense.count_params(), 8);
  EXPECT_THROW((void)dense(Input({.shape = {4}})), ValueError);
  EXPECT_THROW((void)dense(abs(x)), TypeError);
}

TEST(Models, GraphsComeBackFromTheirConfigurations) {
  const Value a = Input({.shape = {4}}), b = Input({.shape = {4}});
  const Layer shared = Dense(4, {.activation = "tanh"});
  const Layer back = Dense(4);
  const Value once = back(shared(back(shared(a))));
  auto inner_x = Input({.shape = {4}});
  const auto inner =
      std::make_shared<Network>(Values(inner_x), Values(Dense(3)(Dropout(0.5)(inner_x))));
  inner->set_options({});
  const Layer nested(inner);
  const auto network =
      std::make_shared<Network>(Values{a, b}, Values{nested(once), shared(b), nested(shared(b))});
  network->set_options({.name = "both"});
  const Json config = network->full_config();
  const CustomLayers none;
  const Lambdas no_lambdas;
  const auto again = Network::from_config(Json::parse(config.dump()), {none, no_lambdas});
  EXPECT_EQ(again->full_config(), config) << again->full_config().dump() << config.dump();
  EXPECT_EQ(again->layers().size(), network->layers().size());
  EXPECT_EQ(again->weights().size(), network->weights().size());
}

}  // namespace
}  // namespace horngate::keras
