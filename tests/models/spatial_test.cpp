// Layers with spatial axes: how they are spelled in C++, what they refuse, and what Keras itself cannot do.
#include <gtest/gtest.h>
#include <horngate/keras.h>

#include "error_of.h"
#include "keras/layers/body_of.h"

namespace horngate::keras {
namespace {

using testing::error_of;

Json option(const Layer& layer, const char* name) { return layer.get_config().at(name, name); }

std::string refused(const char* class_name, const char* config) {
  return error_of([&] {
    Json description;
    description.set("class_name", class_name);
    description.set("config", Json::parse(config));
    const CustomLayers none;
    (void)layer_from(description, {none});
  });
}

TEST(SpatialLayers, SizesAreWrittenAsInKeras) {
  EXPECT_EQ(option(Conv1D(4, 3, {.padding = "causal"}), "kernel_size"), (Json::List{3}));
  EXPECT_EQ(option(Conv2D(4, 3), "kernel_size"), (Json::List{3, 3}));
  EXPECT_EQ(option(Conv2D(4, {3, 5}, {.strides = {2, 1}, .padding = Padding::same}), "strides"),
            (Json::List{2, 1}));
  EXPECT_EQ(option(Conv3D(4, {1, 2, 3}, {.dilation_rate = 2}), "dilation_rate"),
            (Json::List{2, 2, 2}));
  EXPECT_EQ(option(Conv2DTranspose(4, 3), "output_padding"), Json());
  EXPECT_EQ(
      option(Conv2DTranspose(4, 3, {.strides = 2, .output_padding = {0, 1}}), "output_padding"),
      (Json::List{0, 1}));
  EXPECT_EQ(option(Conv3DTranspose(4, 3, {.strides = 2, .output_padding = 1}), "output_padding"),
            (Json::List{1, 1, 1}));
  EXPECT_EQ(option(SeparableConv1D(4, 3), "data_format"), "channels_last");
  EXPECT_EQ(option(SeparableConv2D(4, {3, 2}, {.depth_multiplier = 2}), "depth_multiplier"), 2);
  EXPECT_EQ(option(DepthwiseConv2D({3, 2}), "kernel_size"), (Json::List{3, 2}));
  EXPECT_EQ(option(MaxPooling2D({.pool_size = {3, 2}}), "strides"), (Json::List{3, 2}));
  EXPECT_EQ(option(AveragePooling3D({.strides = {1, 2, 3}}), "strides"), (Json::List{1, 2, 3}));
  EXPECT_EQ(option(MaxPooling1D({.pool_size = 3, .strides = 1}), "strides"), (Json::List{1}));
  EXPECT_EQ(option(LocallyConnected2D(2, {1, 2}), "kernel_size"), (Json::List{1, 2}));
  EXPECT_EQ(LocallyConnected1D(2, 1).get_config().find("data_format"), nullptr);
}

TEST(SpatialLayers, BordersAreWrittenAsInKeras) {
  const auto text = [](const Layer& layer, const char* name) { return option(layer, name).dump(); };
  EXPECT_EQ(text(ZeroPadding1D(), "padding"), "[1, 1]");
  EXPECT_EQ(text(ZeroPadding1D({.padding = {2, 0}}), "padding"), "[2, 0]");
  EXPECT_EQ(text(ZeroPadding2D({.padding = 3}), "padding"), "[[3, 3], [3, 3]]");
  EXPECT_EQ(text(ZeroPadding2D({.padding = {1, 2}}), "padding"), "[[1, 1], [2, 2]]");
  EXPECT_EQ(text(ZeroPadding2D({.padding = {{1, 0}, {2, 3}}}), "padding"), "[[1, 0], [2, 3]]");
  EXPECT_EQ(text(ZeroPadding3D({.padding = {1, {0, 2}, 3}}), "padding"),
            "[[1, 1], [0, 2], [3, 3]]");
  EXPECT_EQ(text(Cropping1D({.cropping = {0, 1}}), "cropping"), "[0, 1]");
  EXPECT_EQ(text(Cropping2D(), "cropping"), "[[0, 0], [0, 0]]");
  EXPECT_EQ(text(Cropping3D(), "cropping"), "[[1, 1], [1, 1], [1, 1]]");
  EXPECT_EQ(text(UpSampling1D({.size = 3}), "size"), "3");
  EXPECT_EQ(text(UpSampling2D({.size = {3, 1}, .interpolation = "bilinear"}), "interpolation"),
            "\"bilinear\"");
  EXPECT_EQ(text(UpSampling3D({.size = 3}), "size"), "[3, 3, 3]");
}

TEST(SpatialLayers, TheDataFormatIsThatOfTheMomentTheyAreMade) {
  const DataFormat before = image_data_format();
  set_image_data_format(DataFormat::channels_first);
  const Layers made = {Conv2D(1, 1),          Conv2DTranspose(1, 1),   SeparableConv2D(1, 1),
                       DepthwiseConv2D(1),    UpSampling3D(),          ZeroPadding2D(),
                       Cropping3D(),          MaxPooling2D(),          GlobalAveragePooling3D(),
                       Conv3DTranspose(1, 1), LocallyConnected2D(1, 1)};
  const Layers series = {Conv1D(1, 1), SeparableConv1D(1, 1), MaxPooling1D(), GlobalMaxPooling1D()};
  const Layer local = LocallyConnected1D(2, 2);
  set_image_data_format(before);
  for (const Layer& layer : made)
    EXPECT_EQ(option(layer, "data_format"), "channels_first") << layer.name();
  for (const Layer& layer : series)
    EXPECT_EQ(option(layer, "data_format"), "channels_last") << layer.name();
  EXPECT_EQ(local(Input({.shape = {5, 3}})).shape().str(), "(None, 4, 2)");
}

TEST(SpatialLayers, RefuseWhatTheyCannotDo) {
  EXPECT_EQ(error_of([] { (void)Conv2D(0, 3); }), "Conv2D: filters must be positive; got 0.");
  EXPECT_EQ(error_of([] { (void)Conv2D(1, {3, 0}); }),
            "Conv2D: kernel_size must be positive; got [3, 0].");
  EXPECT_EQ(error_of([] { (void)Conv3D(1, 1, {.strides = -1}); }),
            "Conv3D: strides must be positive; got [-1, -1, -1].");
  EXPECT_EQ(error_of([] { (void)Conv1D(1, 1, {.dilation_rate = int64_t{1} << 40}); }),
            "Conv1D: dilation_rate must be at most 2147483647; got [1099511627776].");
  EXPECT_EQ(error_of([] { (void)Conv2D(1, 1, {.padding = "causal"}); }),
            "Conv2D: padding must be \"valid\" or \"same\"; got \"causal\".");
  EXPECT_EQ(
      error_of([] { (void)Conv1D(1, 1, {.padding = "causal", .data_format = "channels_first"}); }),
      "Conv1D: data_format must be \"channels_last\" with causal padding; got "
      "\"channels_first\".");
  EXPECT_EQ(error_of([] { (void)SeparableConv2D(1, 1, {.depth_multiplier = 0}); }),
            "SeparableConv2D: depth_multiplier must be positive; got 0.");
  EXPECT_EQ(error_of([] { (void)Conv2DTranspose(1, 1, {.strides = 2, .output_padding = {1, 2}}); }),
            "Conv2DTranspose: output_padding must be smaller than strides, [2, 2]; got [1, 2].");
  EXPECT_EQ(error_of([] { (void)MaxPooling1D({.padding = "causal"}); }),
            "MaxPooling1D: padding must be \"valid\" or \"same\"; got \"causal\".");
  EXPECT_EQ(error_of([] { (void)AveragePooling2D({.pool_size = {2, 0}}); }),
            "AveragePooling2D: pool_size must be positive; got [2, 0].");
  EXPECT_EQ(error_of([] { (void)UpSampling1D({.size = 0}); }),
            "UpSampling1D: size must be positive; got [0].");
  EXPECT_EQ(error_of([] { (void)ZeroPadding2D({.padding = {{0, -1}, {0, 0}}}); }),
            "ZeroPadding2D: padding must be at least 0; got [0, -1].");
  EXPECT_EQ(error_of([] { (void)LocallyConnected2D(1, 1, {.padding = "same"}); }),
            "LocallyConnected2D: padding must be \"valid\"; got \"same\".");
  EXPECT_EQ(error_of([] { (void)LocallyConnected1D(1, 1, {.data_format = "channels_first"}); }),
            "LocallyConnected1D: data_format must be \"channels_last\"; got \"channels_first\".");
}

TEST(SpatialLayers, RefuseInputsThatTheyCannotTake) {
  const Value open = Input({.shape = {None, 4, None}});
  EXPECT_EQ(error_of([&] { (void)Conv2D(1, 1, {.name = "c"})(open); }),
            "c: the channels of the input must be known; got shape (None, None, 4, None).");
  EXPECT_EQ(error_of([&] { (void)Conv3D(1, 1, {.name = "c"})(open); }),
            "c: input 0 must have 5 dimensions; got shape (None, None, 4, None).");
  EXPECT_EQ(error_of([&] { (void)Cropping2D({.cropping = {{0, 0}, {3, 2}}, .name = "c"})(open); }),
            "c: cropping must be at most 4 along axis 2; got 3 + 2.");
  EXPECT_EQ(error_of([&] {
              (void)LocallyConnected2D(1, {1, 5}, {.name = "c"})(Input({.shape = {5, 4, 1}}));
            }),
            "c: the spatial sizes of the input must be known and at least kernel_size, [1, 5]; got "
            "shape (None, 5, 4, 1).");
  const Layer shared = Conv2D(1, 1, {.name = "c"});
  (void)shared(Input({.shape = {2, 2, 3}}));
  EXPECT_EQ(error_of([&] { (void)shared(Input({.shape = {2, 2, 4}})); }),
            "c: input 0 must have 3 along axis 3; got shape (None, 2, 2, 4).");
  EXPECT_EQ(error_of([&] {
              (void)GlobalMaxPooling1D({.name = "g"})(Masking()(Input({.shape = {2, 2}})));
            }),
            "g: a GlobalMaxPooling1D layer does not support masking, but its input has a mask.");
}

TEST(SpatialLayers, RefuseConfigurationsThatMeanSomethingElse) {
  EXPECT_EQ(refused("Conv2D", R"({"name": "c", "filters": 4, "kernel_size": 1, "groups": 2})"),
            "c: groups must be 1; got 2.");
  EXPECT_EQ(refused("GlobalMaxPooling2D", R"({"name": "g", "keepdims": true})"),
            "g: keepdims must be false; got true.");
  EXPECT_EQ(refused("LocallyConnected1D",
                    R"({"name": "l", "filters": 4, "kernel_size": 1, "implementation": 2})"),
            "l: implementation must be 1; got 2.");
  EXPECT_EQ(
      refused("LocallyConnected1D",
              R"({"name": "l", "filters": 4, "kernel_size": 1, "data_format": "channels_first"})"),
      "l: data_format must be \"channels_last\"; got \"channels_first\".");
  EXPECT_EQ(refused("Conv2D", R"({"name": "c", "filters": 4, "kernel_size": [1, 2, 3]})"),
            "c: kernel_size must have 2 entries; got 3.");
  EXPECT_EQ(refused("Conv2D", R"({"name": "c", "filters": 4, "kernel_size": 3000000000})"),
            "c: Conv2D: kernel_size must be at most 2147483647; got [3000000000, 3000000000].");
  // Whatever it is, the layer is named: a file may have many of one class.
  EXPECT_EQ(
      refused("Conv2D", R"({"name": "c", "filters": 4, "kernel_size": 1, "padding": "causal"})"),
      "c: Conv2D: padding must be \"valid\" or \"same\"; got \"causal\".");
  EXPECT_TRUE(
      refused("Conv2D", R"({"name": "c", "filters": 4, "kernel_size": 1, "dtype": "float31"})")
          .starts_with("c: dtype must be one of "));
  EXPECT_EQ(refused("ConvLSTM2D",
                    R"({"name": "c", "filters": 4, "kernel_size": 1, "padding": "causal"})"),
            "c: ConvLSTM2DCell: padding must be \"valid\" or \"same\"; got \"causal\".");
  EXPECT_EQ(error_of([] { (void)ConvLSTM2D(2, 3, {.padding = Padding::causal}); }),
            "ConvLSTM2DCell: padding must be \"valid\" or \"same\"; got \"causal\".");
}

Arrays run(const Value& x, const Value& y, const Array& fed) { return function({x}, {y})({fed}); }

// Keras multiplies with a mask of the wrong shape, or cannot reshape it.
TEST(GlobalAveragePooling1D, MasksOfUnknownLengthAndOfChannelsFirst) {
  const Value x = Input({.shape = {None, 2}});
  const Value y = GlobalAveragePooling1D()(Masking()(x));
  EXPECT_FALSE(y.mask().defined());
  const Array fed = Array::of({1.f, 2.f, 3.f, 5.f, 0.f, 0.f}, {1, 3, 2});
  EXPECT_EQ(run(x, y, fed)[0].to_vector<float>(), (std::vector<float>{2, 3.5}));

  // Masking says which of the three rows count; as steps they lie along the last axis.
  struct Transposed : Body {
    std::string class_name() const override { return "Transposed"; }
    Tensors call(Call& c) override { return {permute_dimensions(c.x(), {0, 2, 1})}; }
    bool supports_masking() const override { return true; }
  };
  const Value z =
      GlobalAveragePooling1D({.data_format = "channels_first"})(custom<Transposed>()(Masking()(x)));
  EXPECT_EQ(run(x, z, fed)[0].to_vector<float>(), (std::vector<float>{2, 3.5}));
}

TEST(SpatialLayers, ConstraintsAreThoseOfTheirWeights) {
  const auto times = [](double k) {
    return WeightConstraint([k](const Tensor& x) { return x * k; });
  };
  const auto factors = [](const Layer& layer, const Shape& input) {
    (void)layer(Input({.batch_shape = input}));
    std::vector<double> result;
    for (const Weight& w : layer.weights())
      result.push_back(eval(constraint_of(w.variable)(constant(1.0))).to_vector<double>()[0]);
    return result;
  };
  const std::vector<double> two = {2, 3}, three = {2, 4, 3};
  const Shape image = {1, 4, 4, 2};
  const auto k = times(2), b = times(3), p = times(4);
  EXPECT_EQ(factors(Conv2D(1, 1, {.kernel_constraint = k, .bias_constraint = b}), image), two);
  EXPECT_EQ(factors(Conv2DTranspose(1, 1, {.kernel_constraint = k, .bias_constraint = b}), image),
            two);
  EXPECT_EQ(factors(DepthwiseConv2D(1, {.depthwise_constraint = k, .bias_constraint = b}), image),
            two);
  EXPECT_EQ(
      factors(
          SeparableConv2D(
              1, 1, {.depthwise_constraint = k, .pointwise_constraint = p, .bias_constraint = b}),
          image),
      three);
  EXPECT_EQ(
      factors(LocallyConnected2D(1, 1, {.kernel_constraint = k, .bias_constraint = b}), image),
      two);
}

TEST(Conv2DTranspose, LengthsAreKnownWhereThoseOfTheInputAre) {
  const Layer layer = Conv2DTranspose(5, {3, 2}, {.strides = {2, 3}});
  EXPECT_EQ(layer(Input({.shape = {4, None, 2}})).shape().str(), "(None, 9, None, 5)");
  const Value x = Input({.shape = {None, None, 2}});
  const Array y = run(x, layer(x), Array::zeros(DType::float32, {1, 4, 2, 2}))[0];
  EXPECT_EQ(y.shape().str(), "(1, 9, 6, 5)");
}

}  // namespace
}  // namespace horngate::keras
