// Recurrent layers: cells of one's own, states, constants, wrappers; texts of errors.
#include <gtest/gtest.h>
#include <horngate/keras.h>

#include <cmath>
#include <numeric>

#include "error_of.h"
#include "keras/network.h"

namespace horngate::keras {
namespace {

using horngate::testing::error_of;

/// h' = x + h * factor + the sum of constants
struct Adder final : Cell {
  Variable factor;
  std::string class_name() const override { return "Adder"; }
  Ints state_size() const override { return {2}; }
  bool takes_constants() const override { return true; }
  void build(const Shapes&) override {
    factor = add_weight("factor", {2}, {.initializer = "ones"});
  }
  RnnStep step(const Tensor& x, const Tensors& states, const Tensors& constants) override {
    Tensor h = x + states[0] * factor;
    for (const Tensor& c : constants) h = h + c;
    return {h, {h}};
  }
};

struct Copied final : Cell {
  std::string class_name() const override { return "Copied"; }
  Ints state_size() const override { return {2}; }
  RnnStep step(const Tensor& x, const Tensors& states, const Tensors&) override {
    const Tensor h = 2 * states[0] + x;
    return {h, {h}};
  }
  std::shared_ptr<Cell> copy() const override {
    auto other = std::make_shared<Copied>();
    other->set_options({});
    return other;
  }
};

Array counted(const Ints& dims) {
  Array a = Array::zeros(DType::float32, dims);
  std::iota(a.data<float>(), a.data<float>() + a.size(), 1.0f);
  return a;
}

std::vector<float> run(const Values& inputs, const Value& y, const Arrays& fed) {
  return function(Tensors(inputs.begin(), inputs.end()), {y})(fed)[0].to_vector<float>();
}

TEST(Recurrent, ACellOfOnesOwn) {
  const Value x = Input({.shape = {3, 2}});
  const Layer layer = RNN(custom<Adder>());
  EXPECT_EQ(run({x}, layer(x), {counted({1, 3, 2})}), (std::vector<float>{9, 12}));
  EXPECT_EQ(layer.weights().size(), 1u);
  EXPECT_EQ(layer.weights()[0].name, layer.name() + "/factor");
  EXPECT_EQ(layer.get_config().find("cell")->find("class_name")->as_string(""), "Adder");

  const Value stacked = RNN({custom<Adder>(), custom<Copied>(), GRUCell(3)})(x);
  EXPECT_EQ(stacked.shape().dim(1), 3);
}

TEST(Recurrent, StatesAndConstants) {
  const Value x = Input({.shape = {3, 2}}), h = Input({.shape = {2}}), c = Input({.shape = {2}}),
              d = Input({.shape = {2}});
  const Layer layer = RNN(custom<Adder>(), {.return_sequences = true, .return_state = true});
  const Values y = call_with_state(layer, x, h, {c, d});
  ASSERT_EQ(y.size(), 2u);
  const Array ten = Array::full(DType::float32, {1, 2}, 10),
              one = Array::full(DType::float32, {1, 2}, 1);
  EXPECT_EQ(run({x, h, c, d}, y[0], {counted({1, 3, 2}), ten, one, one}),
            (std::vector<float>{13, 14, 18, 20, 25, 28}));
  EXPECT_EQ(layer.get_config().find("num_constants")->as_int(""), 2);
  // Constants alone.
  EXPECT_EQ(run({x, c, d}, layer.call_all({x, c, d})[1], {counted({1, 3, 2}), one, one}),
            (std::vector<float>{15, 18}));
  EXPECT_EQ(
      error_of<ValueError>([&] { (void)call_with_state(LSTM(2, {.name = "a"}), x, {h, h}, c); }),
      "a: a LSTMCell takes no constants; got 1.");
}

// Half of a sequence, then the other half from the states that it left.
template <class Make>
void check_halves(const Make& make, const Shape& shape, const Array& all) {
  const Value a = Input({.shape = shape}), b = Input({.shape = shape});
  const Layer layer = make(RNNOptions{.return_state = true});
  const Values first = layer.call_all(a);
  const Values second = call_with_state(layer, b, Values(first.begin() + 1, first.end()));
  const Function f = function({a, b}, {second[0]});
  const Function whole = function({a}, {layer.call_all(a)[0]});
  const int64_t steps = all.dims()[1];
  Ints half = all.dims();
  half[1] = steps / 2;
  const int64_t middle = all.size() / 2;
  const float* data = all.data<float>();
  const Arrays got = f({Array::of(std::span(data, static_cast<size_t>(middle)), half),
                        Array::of(std::span(data + middle, static_cast<size_t>(middle)), half)});
  const Arrays want = whole({all});
  ASSERT_EQ(got[0].shape(), want[0].shape());
  for (int64_t i = 0; i < got[0].size(); ++i)
    EXPECT_NEAR(got[0].data<float>()[i], want[0].data<float>()[i], 1e-5);
}

TEST(Recurrent, SequencesContinueFromStates) {
  Array x = counted({1, 4, 3});
  for (int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] = std::sin(x.data<float>()[i]);
  check_halves([](const RNNOptions& o) { return LSTM(3, {.return_state = o.return_state}); },
               {None, 3}, x);
  check_halves(
      [](const RNNOptions& o) {
        return GRU(3, {.return_state = o.return_state, .reset_after = true});
      },
      {None, 3}, x);
  check_halves([](const RNNOptions& o) { return RNN({LSTMCell(2), SimpleRNNCell(4)}, o); },
               {None, 3}, x);
  Array images = counted({1, 4, 5, 4, 2});
  for (int64_t i = 0; i < images.size(); ++i)
    images.data<float>()[i] = std::sin(images.data<float>()[i]);
  check_halves(
      [](const RNNOptions& o) {
        return ConvLSTM2D(2, {3, 2}, {.strides = {2, 1}, .return_state = o.return_state});
      },
      {None, 5, 4, 2}, images);
  check_halves(
      [](const RNNOptions& o) { return ConvRNN2D(ConvLSTM2DCell(2, 3, {.padding = "same"}), o); },
      {None, 5, 4, 2}, images);
}

TEST(Recurrent, StatefulLayersKeepTheirStates) {
  const Value x = Input({.batch_shape = {1, 1, 2}});
  const Layer layer = RNN(custom<Adder>(), {.stateful = true});
  const Value y = layer(x);
  const Function f = function({x}, {y}, y.node()->state_updates);
  const Array one = Array::full(DType::float32, {1, 1, 2}, 1);
  for (const float want : {1, 2, 3}) EXPECT_EQ(f({one})[0].to_vector<float>()[0], want);
  EXPECT_EQ(get_states(layer)[0].to_vector<float>(), (std::vector<float>{3, 3}));
  layer.reset_states();
  EXPECT_EQ(f({one})[0].to_vector<float>()[0], 1);
  reset_states(layer, {Array::full(DType::float64, {1, 2}, 7)});
  EXPECT_EQ(f({one})[0].to_vector<float>()[0], 8);
  EXPECT_EQ(layer.weights().size(), 1u);
  EXPECT_EQ(
      error_of<ValueError>([&] { reset_states(layer, {one}); }),
      "reset_states: state 0 of layer " + layer.name() + " has the shape (1, 2); got (1, 1, 2).");
  EXPECT_EQ(error_of<RuntimeError>([] { LSTM(2, {.name = "a"}).reset_states(); }),
            "reset_states: layer a is not stateful.");

  const Layer both = Bidirectional(GRU(2, {.stateful = true}));
  const Value z = both(x);
  EXPECT_EQ(z.node()->state_updates.size(), 2u);
  reset_states(both,
               {Array::full(DType::float32, {1, 2}, 1), Array::full(DType::float32, {1, 2}, 2)});
  EXPECT_EQ(get_states(both)[1].to_vector<float>(), (std::vector<float>{2, 2}));
}

TEST(Recurrent, BidirectionalOfACellOfOnesOwn) {
  const Value x = Input({.shape = {3, 2}});
  const Value y = Bidirectional(RNN(custom<Copied>()))(x);
  // Forward 4 * x0 + 2 * x1 + x2, backward x0 + 2 * x1 + 4 * x2.
  EXPECT_EQ(run({x}, y, {counted({1, 3, 2})}), (std::vector<float>{15, 22, 27, 34}));
  EXPECT_NE(error_of<ValueError>([&] {
              (void)Bidirectional(RNN(custom<Adder>({.name = "mine"})));
            }).find("mine: a Adder cannot be copied, which Bidirectional needs; override"),
            std::string::npos);
  const CustomLayers custom_layers{
      {"Adder", [](const Json&) { return std::make_shared<Adder>(); }}};
  const Layer read(layer_from(
      Json::parse(
          R"({"class_name": "Bidirectional", "config": {"name": "a", "merge_mode": "sum", "layer":
              {"class_name": "RNN", "config": {"name": "b", "cell": {"class_name": "Adder", "config": {"name": "c"}}}}}})"),
      {custom_layers}));
  EXPECT_EQ(run({x}, read(x), {counted({1, 3, 2})}), (std::vector<float>{18, 24}));
  const Layer inner = LSTM(2);
  const Layer merged = Bidirectional(inner, {.merge_mode = std::nullopt});
  const Values two = merged.call_all(x);
  EXPECT_EQ(two.size(), 2u);
  const Arrays weights = merged.get_weights();
  const Layer again = Bidirectional(LSTM(2), {.merge_mode = {}, .weights = weights});
  (void)again.call_all(x);
  EXPECT_EQ(again.get_weights()[5].to_vector<float>(), weights[5].to_vector<float>());
  EXPECT_EQ(again.get_weights()[3].to_vector<float>(), weights[3].to_vector<float>());
}

TEST(Recurrent, ErrorsSayWhatIsWrong) {
  const Value x = Input({.shape = {3, 2}}), flat = Input({.shape = {2}});
  EXPECT_EQ(error_of<ValueError>([] { (void)LSTM(0); }),
            "LSTMCell: units must be positive; got 0.");
  EXPECT_EQ(error_of<ValueError>([&] { (void)GRU(2, {.name = "a"})(flat); }),
            "a: input 0 must have 3 dimensions; got shape (None, 2).");
  const Layer lstm = LSTM(2, {.name = "a"});
  EXPECT_EQ(error_of<ValueError>([&] { (void)lstm({x, flat}); }),
            "a: must have 1 input, or 3 with its states, and then 0 constants; got 2 inputs.");
  EXPECT_EQ(
      error_of<ValueError>([&] { (void)call_with_state(LSTM(3, {.name = "a"}), x, {flat, flat}); }),
      "a: initial state 0 must have 3 along axis -1; got shape (None, 2).");
  (void)lstm(x);
  EXPECT_EQ(error_of<ValueError>([&] { (void)lstm(Input({.shape = {3, 4}})); }),
            "a: input 0 must have 2 along axis 2; got shape (None, 3, 4).");
  EXPECT_NE(error_of<ValueError>([&] {
              (void)LSTM(2, {.stateful = true, .name = "a"})(x);
            }).find("a: a stateful layer must know the number of samples"),
            std::string::npos);
  EXPECT_EQ(error_of<ValueError>(
                [&] { (void)LSTM(2, {.unroll = true, .name = "a"})(Input({.shape = {None, 2}})); }),
            "a: unroll needs a known number of time steps; got shape (None, None, 2).");
  EXPECT_EQ(error_of<TypeError>([&] { (void)RNN(Dense(2)); }),
            "RNN: cell must be a keras::Cell; got a Dense.");
  EXPECT_EQ(error_of<TypeError>([&] { (void)Bidirectional(Dense(2, {.name = "a"})); }),
            "Bidirectional: layer must be recurrent; got a, a Dense.");
  EXPECT_EQ(error_of<ValueError>([&] { (void)Bidirectional(GRU(2), {.merge_mode = "max"}); }),
            "Bidirectional: merge_mode must be sum, mul, ave, concat or none; got max.");
  EXPECT_EQ(
      error_of<ValueError>([&] { (void)Embedding(5, 2, {.input_length = 4, .name = "a"})(flat); }),
      "a: the input must have the input_length 4; got shape (None, 2).");
  EXPECT_EQ(error_of<ValueError>([&] { (void)TimeDistributed(Dense(2), {.name = "a"})(flat); }),
            "a: input 0 must have at least 3 dimensions; got shape (None, 2).");
  EXPECT_EQ(error_of<ValueError>([&] {
              (void)convert_rnn_weights("LSTM", {counted({3, 8}), counted({2, 8}), counted({9})});
            }),
            "convert_rnn_weights: the weights must be those of a LSTM; got shapes (3, 8), (2, 8) "
            "and (9,).");
}

TEST(Recurrent, HostileConfigurationsAreErrors) {
  const CustomLayers none;
  const auto load = [&](const char* text) { return layer_from(Json::parse(text), {none}); };
  for (
      const char* bad : {
          R"({"class_name": "LSTM", "config": {"name": "a"}})",
          R"({"class_name": "LSTM", "config": {"name": "a", "units": -1}})",
          R"({"class_name": "GRU", "config": {"name": "a", "units": 4611686018427387904}})",
          R"({"class_name": "GRU", "config": {"name": "a", "units": 2, "time_major": true}})",
          R"({"class_name": "RNN", "config": {"name": "a"}})",
          R"({"class_name": "RNN", "config": {"name": "a", "cell": {"class_name": "Dense", "config": {"name": "b", "units": 2}}}})",
          R"({"class_name": "RNN", "config": {"name": "a", "num_constants": -1, "cell": {"class_name": "GRUCell", "config": {"name": "b", "units": 2}}}})",
          R"({"class_name": "StackedRNNCells", "config": {"name": "a", "cells": []}})",
          R"({"class_name": "ConvRNN2D", "config": {"name": "a", "cell": {"class_name": "GRUCell", "config": {"name": "b", "units": 2}}}})",
          R"({"class_name": "ConvLSTM2D", "config": {"name": "a", "filters": 2, "kernel_size": [1]}})",
          R"({"class_name": "ConvLSTM2D", "config": {"name": "a", "filters": 2, "kernel_size": 0}})",
          R"({"class_name": "Bidirectional", "config": {"name": "a", "layer": {"class_name": "Dense", "config": {"name": "b", "units": 2}}}})",
          R"({"class_name": "Embedding", "config": {"name": "a", "input_dim": 0, "output_dim": 2}})",
      })
    EXPECT_THROW((void)load(bad), Error) << bad;
  const Layer cell(load(
      R"({"class_name": "RNN", "config": {"name": "a", "cell": {"class_name": "ConvLSTM2DCell", "config": {"name": "b", "filters": 2, "kernel_size": 3}}}})"));
  EXPECT_THROW((void)cell(Input({.shape = {3, 2}})), ValueError);
  const Layer alone(load(R"({"class_name": "LSTMCell", "config": {"name": "b", "units": 2}})"));
  EXPECT_THROW((void)alone.call_all(Input({.batch_shape = {3}})), ValueError);
  EXPECT_THROW((void)alone.call_all(Values()), ValueError);
}

}  // namespace
}  // namespace horngate::keras
