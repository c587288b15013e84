// Names of older Keras versions give what those of today give.
#include "api_values.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace horngate {
namespace {

using namespace testing_api;

TEST(ApiLegacy, NamesOfThen) {
  const Value x = noise({2, 4, 3}, 1, -1, 1);
  const auto same = [&](const Op& then, const Op& today) {
    expect_near(run(then, {x}), run(today, {x}));
  };
  same([](const Tensors& t) { return cast(lesser(t[0], 0.2), DType::float64); },
       [](const Tensors& t) { return cast(less(t[0], 0.2), DType::float64); });
  same([](const Tensors& t) { return cast(lesser_equal(t[0], 0.2), DType::float64); },
       [](const Tensors& t) { return cast(less_equal(t[0], 0.2), DType::float64); });
  same([](const Tensors& t) { return asymmetric_temporal_padding(t[0], {.left_pad = 2}); },
       [](const Tensors& t) { return temporal_padding(t[0], {2, 1}); });
  const Tensor mean = constant(0.25), var = constant(0.5);
  same([&](const Tensors& t) { return normalize_batch(t[0], mean, var, {}, {}); },
       [&](const Tensors& t) {
         return batch_normalization(t[0], mean, var, {}, {}, {.epsilon = 0.0001});
       });
  EXPECT_EQ(get_variable_shape(placeholder({.shape = {None, 3}})), (Shape{None, 3}));
}

TEST(ApiLegacy, Deconv2d) {
  const Value th = noise({2, 3, 4, 5}, 2, -1, 1), kernel = noise({4, 3, 2, 3}, 3, -1, 1);
  const ShapeArg shape = {2, 4, 5, 7};
  expect_near(run([&](const Tensors& t) { return deconv2d(t[0], t[1], shape); }, {th, kernel}),
              run(
                  [&](const Tensors& t) {
                    return conv2d_transpose(t[0], permute_dimensions(t[1], {2, 3, 0, 1}), shape,
                                            {.data_format = DataFormat::channels_first});
                  },
                  {th, kernel}));
  const Value tf = noise({2, 4, 5, 3}, 4, -1, 1), last = noise({2, 3, 3, 4}, 5, -1, 1);
  const ShapeArg wide = {2, 8, 10, 4};
  expect_near(
      run(
          [&](const Tensors& t) {
            return deconv2d(
                t[0], t[1], wide,
                {.strides = {2, 2}, .border_mode = Padding::same, .dim_ordering = DimOrdering::tf});
          },
          {tf, last}),
      run(
          [&](const Tensors& t) {
            return conv2d_transpose(t[0], permute_dimensions(t[1], {0, 1, 3, 2}), wide,
                                    {.strides = {2, 2}, .padding = Padding::same});
          },
          {tf, last}));
}

TEST(ApiLegacy, Settings) {
  EXPECT_EQ(image_dim_ordering(), DimOrdering::tf);
  set_image_dim_ordering(DimOrdering::th);
  EXPECT_EQ(image_data_format(), DataFormat::channels_first);
  EXPECT_EQ(image_dim_ordering(), DimOrdering::th);
  EXPECT_EQ(normalize_data_format({}), DataFormat::channels_first);
  EXPECT_EQ(normalize_data_format(DataFormat::channels_last), DataFormat::channels_last);
  set_image_dim_ordering(DimOrdering::tf);
  EXPECT_EQ(image_data_format(), DataFormat::channels_last);
}

TEST(ApiVariables, ConstraintIsKept) {
  const Variable free = variable(Array(1.0));
  EXPECT_FALSE(constraint_of(free));
  const Variable w = variable(Array(-2.0), {.constraint = [](const Tensor& t) { return abs(t); }});
  const Constraint& keep = constraint_of(w);
  ASSERT_TRUE(keep);
  EXPECT_EQ(eval(keep(w)).item<double>(), 2.0);
}

TEST(ApiVariables, FloatxArrays) {
  EXPECT_EQ(cast_to_floatx(Array(1.5)).dtype(), floatx());
  EXPECT_FALSE(is_keras_tensor(placeholder({.shape = {2}})));
  manual_variable_initialization(true);
}

}  // namespace
}  // namespace horngate
