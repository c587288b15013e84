// Values of the K functions on elements, reductions, shapes and products, worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "api_values.h"

namespace horngate {
namespace {

namespace K = horngate;
using testing_api::check_gradient;
using testing_api::expect_near;
using testing_api::noise;
using testing_api::run;
using testing_api::Value;
using testing_api::value_of;

constexpr double kInf = INFINITY;

Tensor floats(Ints dims, std::vector<double> values) {
  return K::constant(Array::of(values, dims), {.dtype = DType::float32});
}
Tensor ints(Ints dims, std::vector<int32_t> values) { return K::constant(Array::of(values, dims)); }

void expect(const Tensor& got, Value want, double tolerance = 1e-6) {
  Value value = value_of(K::eval(got));
  ASSERT_EQ(value.dims, want.dims);
  for (size_t i = 0; i < want.data.size(); ++i) {
    if (!std::isinf(want.data[i])) continue;
    EXPECT_EQ(value.data[i], want.data[i]) << "element " << i;
    value.data[i] = want.data[i] = 0;  // infinities have no distance
  }
  expect_near(value, want, tolerance);
}
/// The same with shapes that are known and with shapes that are not.
void expect_run(const testing_api::Op& op, const std::vector<Value>& feed, const Value& want) {
  expect_near(run(op, feed, false), want);
  expect_near(run(op, feed, true), want);
}

TEST(ApiValuesElementwise, Functions) {
  const Tensor x = floats({4}, {-2.5, -0.5, 0, 1.5});
  expect(K::abs(x), {{4}, {2.5, 0.5, 0, 1.5}});
  expect(K::square(x), {{4}, {6.25, 0.25, 0, 2.25}});
  expect(K::sign(x), {{4}, {-1, -1, 0, 1}});
  expect(K::round(floats({5}, {0.5, 1.5, 2.5, -0.5, -1.5})), {{5}, {0, 2, 2, 0, -2}});
  expect(K::sqrt(floats({3}, {-4, 0, 9})), {{3}, {0, 0, 3}});
  expect(K::exp(floats({2}, {0, 1})), {{2}, {1, 2.718281828459045}});
  expect(K::log(floats({3}, {1, 2.718281828459045, 0})), {{3}, {0, 1, -kInf}});
  expect(K::sin(floats({2}, {0, 0.5235987755982988})), {{2}, {0, 0.5}});
  expect(K::cos(floats({2}, {0, 1.0471975511965976})), {{2}, {1, 0.5}});
  expect(K::pow(x, 3), {{4}, {-15.625, -0.125, 0, 3.375}});
  expect(K::pow(2, floats({2}, {3, -1})), {{2}, {8, 0.5}});
  expect(K::pow(ints({2}, {3, -2}), 3), {{2}, {27, -8}});
  expect(K::cast(floats({3}, {-1.7, 0, 2.9}), DType::int32), {{3}, {-1, 0, 2}});
}

TEST(ApiValuesElementwise, Clip) {
  const Tensor x = floats({4}, {-2, 0, 1, 3});
  expect(K::clip(x, -1, 2), {{4}, {-1, 0, 1, 2}});
  expect(K::clip(x, None, 1), {{4}, {-2, 0, 1, 1}});
  expect(K::clip(x, 0, kInf), {{4}, {0, 0, 1, 3}});
  expect(K::clip(x, 2, 1), {{4}, {2, 2, 2, 2}});
  expect(K::clip(x, floats({4}, {0, 1, 0, 4}), 2), {{4}, {0, 1, 1, 4}});
  expect(K::clip(ints({3}, {-5, 1, 5}), 0, 2), {{3}, {0, 1, 2}});
}

TEST(ApiValuesElementwise, OperatorsAndComparisons) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4}), y = floats({2}, {2, 4});
  expect(x + y, {{2, 2}, {3, 6, 5, 8}});
  expect(1 - x, {{2, 2}, {0, -1, -2, -3}});
  expect(x / y, {{2, 2}, {0.5, 0.5, 1.5, 1}});
  expect(-x * 2, {{2, 2}, {-2, -4, -6, -8}});
  expect(ints({2}, {3, 7}) / 2, {{2}, {1.5, 3.5}});
  expect(K::floordiv(ints({2}, {-7, 7}), 2), {{2}, {-4, 3}});
  expect(K::mod(ints({2}, {-7, 7}), 3), {{2}, {2, 1}});
  expect(K::maximum(x, 2.5), {{2, 2}, {2.5, 2.5, 3, 4}});
  expect(K::minimum(x, y), {{2, 2}, {1, 2, 2, 4}});
  expect(K::equal(x, y), {{2, 2}, {0, 0, 0, 1}});
  expect(K::not_equal(x, 1), {{2, 2}, {0, 1, 1, 1}});
  expect(K::greater(x, y), {{2, 2}, {0, 0, 1, 0}});
  expect(K::greater_equal(x, y), {{2, 2}, {0, 0, 1, 1}});
  expect(K::less(x, y), {{2, 2}, {1, 1, 0, 0}});
  expect(K::less_equal(x, y), {{2, 2}, {1, 1, 0, 1}});
  expect(K::less(ints({2}, {0, 1}), 0.5), {{2}, {1, 0}});
  expect(K::logical_and(x, floats({2}, {0, 1})), {{2, 2}, {0, 1, 0, 1}});
  expect(K::logical_not(floats({2}, {0, 3})), {{2}, {1, 0}});
}

TEST(ApiValuesReductions, Values) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 6, 8});
  expect(K::sum(x), {{}, {24}});
  expect(K::sum(x, {.axis = 0}), {{3}, {5, 8, 11}});
  expect(K::max(x, {.axis = 1, .keepdims = true}), {{2, 1}, {3, 8}});
  expect(K::min(x, {.axis = {0, 1}}), {{}, {1}});
  expect(K::prod(x, {.axis = -1}), {{2}, {6, 192}});
  expect(K::mean(x, {.axis = 1}), {{2}, {2, 6}});
  expect(K::var(x, {.axis = 1}), {{2}, {2.0 / 3, 8.0 / 3}});
  expect(K::std(floats({4}, {1, 1, 3, 3})), {{}, {1}});
  expect(K::mean(ints({2}, {1, 2})), {{}, {1.5}});
  expect(K::mean(K::greater(x, 2)), {{}, {4.0 / 6}});
  expect(K::cumsum(x, 1), {{2, 3}, {1, 3, 6, 4, 10, 18}});
  expect(K::cumprod(x), {{2, 3}, {1, 2, 3, 4, 12, 24}});
  expect(K::argmax(floats({2, 3}, {1, 5, 5, 7, 2, 0})), {{2}, {1, 0}});
  expect(K::argmin(x, 0), {{3}, {0, 0, 0}});
  expect(K::any(ints({2, 2}, {0, 0, 0, 2}), {.axis = 1}), {{2}, {0, 1}});
  expect(K::all(ints({2, 2}, {1, 0, 3, 2}), {.axis = 1}), {{2}, {0, 1}});
}

TEST(ApiValuesReductions, Logsumexp) {
  const double third = std::log(1 + std::exp(1.0));
  const Tensor x = floats({4, 2}, {1e4, 1e4, -kInf, -kInf, kInf, 0, 0, 1});
  expect(K::logsumexp(x, {.axis = 1}), {{4}, {1e4 + std::log(2.0), -kInf, kInf, third}});
  expect(K::logsumexp(floats({2}, {NAN, 1})), {{}, {NAN}});
  check_gradient([](auto& v) { return K::logsumexp(v[0], {.axis = {0, 2}}); },
                 {noise({2, 3, 2}, 1)});
  const Tensor in = testing_api::input({2});
  const Tensor slope = K::gradients(K::logsumexp(in), {in})[0];
  const Array got = K::function({in}, {slope})({Array::of<float>({-INFINITY, -INFINITY})})[0];
  expect_near(value_of(got), {{2}, {0, 0}});
}

TEST(ApiValuesLinalg, Dot) {
  const Tensor a = floats({2, 2}, {1, 2, 3, 4}), b = floats({2, 2}, {5, 6, 7, 8});
  expect(K::dot(a, b), {{2, 2}, {19, 22, 43, 50}});
  expect(K::dot(a, floats({2}, {1, 10})), {{2}, {21, 43}});
  // (2, 2) with (2, 2, 1): z[i, j, 0] = sum_k a[i, k] y[j, k, 0]
  expect(K::dot(a, floats({2, 2, 1}, {1, 0, 0, 1})), {{2, 2, 1}, {1, 2, 3, 4}});
  expect(K::transpose(floats({2, 3}, {1, 2, 3, 4, 5, 6})), {{3, 2}, {1, 4, 2, 5, 3, 6}});
  const auto dot = [](auto& v) { return K::dot(v[0], v[1]); };
  check_gradient(dot, {noise({2, 3, 2}, 1), noise({2, 2, 3}, 2)}, true);
}

TEST(ApiValuesLinalg, BatchDot) {
  const Value x{{2, 2}, {1, 2, 3, 4}}, y{{2, 2}, {5, 6, 7, 8}};
  expect_run([](auto& v) { return K::batch_dot(v[0], v[1], 1); }, {x, y}, {{2, 1}, {17, 53}});
  expect_run([](auto& v) { return K::batch_dot(v[0], v[1]); }, {x, y}, {{2, 1}, {17, 53}});
  // sample 0: (1, 2) by rows (1, 0), (1, 1), (0, 1); sample 1: (3, 4) by the same
  const Value rows{{2, 3, 2}, {1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1}};
  const Value want{{2, 3}, {1, 3, 2, 3, 7, 4}};
  expect_run([](auto& v) { return K::batch_dot(v[0], v[1], {1, 2}); }, {x, rows}, want);
  expect_run([](auto& v) { return K::batch_dot(v[1], v[0], {-1, -1}); }, {x, rows}, want);
  check_gradient([](auto& v) { return K::batch_dot(v[0], v[1], {2, 1}); },
                 {noise({2, 3, 2}, 1), noise({2, 2, 2, 2}, 2)});
}

TEST(ApiValuesLinalg, GatherAndSparse) {
  const Tensor table = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  expect(K::gather(table, ints({2, 1}, {2, 0})), {{2, 1, 2}, {5, 6, 1, 2}});
  // [[0, 2], [3, 0]]
  const Array matrix = Array::sparse(Array::of<int64_t>({0, 1, 2}), Array::of<int64_t>({1, 0}),
                                     Array::of<float>({2, 3}), {2, 2});
  const Variable s = K::variable(matrix);
  const Tensor y = floats({2, 2}, {1, 2, 3, 4});
  expect(K::dot(s, y), {{2, 2}, {6, 8, 3, 6}});
  expect(K::dot(K::transpose(s), y), {{2, 2}, {9, 12, 2, 4}});
  const Tensor below = K::concatenate({s, s}, 0), beside = K::concatenate({s, s}, 1);
  EXPECT_TRUE(K::is_sparse(below) && K::is_sparse(beside));
  expect(K::to_dense(below), {{4, 2}, {0, 2, 3, 0, 0, 2, 3, 0}});
  expect(K::to_dense(beside), {{2, 4}, {0, 2, 0, 2, 3, 0, 3, 0}});
  expect(K::concatenate({s, y}, 0), {{4, 2}, {0, 2, 3, 0, 1, 2, 3, 4}});
}

TEST(ApiValuesMade, ZerosOnesEye) {
  expect(K::zeros({2, 1}), {{2, 1}, {0, 0}});
  expect(K::ones({2}, {.dtype = DType::int32}), {{2}, {1, 1}});
  expect(K::eye(2), {{2, 2}, {1, 0, 0, 1}});
  expect(K::eye({2, 3}), {{2, 3}, {1, 0, 0, 0, 1, 0}});
  const Value x{{2, 3}, 7.0};
  expect_run([](auto& v) { return K::ones_like(v[0]); }, {x}, {{2, 3}, 1.0});
  expect_run([](auto& v) { return K::shape(v[0]); }, {x}, {{2}, {2, 3}});
  expect_run([](auto& v) { return K::size(v[0]); }, {x}, {{}, {6}});
  expect_run([](auto& v) { return K::identity(v[0]); }, {x}, x);
  expect_run([](auto& v) { return K::zeros({K::index(K::shape(v[0]), 1)}); }, {x}, {{3}, 0.0});
}

TEST(ApiValuesShape, JoiningAndReshaping) {
  const Value a{{1, 2}, {1, 2}}, b{{1, 2}, {3, 4}};
  expect_run([](auto& v) { return K::concatenate(v); }, {a, b}, {{1, 4}, {1, 2, 3, 4}});
  expect_run([](auto& v) { return K::stack(v, 1); }, {a, b}, {{1, 2, 2}, {1, 2, 3, 4}});
  expect_run([](auto& v) { return K::stack(v, -1); }, {a, b}, {{1, 2, 2}, {1, 3, 2, 4}});
  const Value x{{2, 1, 3}, {1, 2, 3, 4, 5, 6}};
  expect_run([](auto& v) { return K::batch_flatten(v[0]); }, {x}, {{2, 3}, x.data});
  expect_run([](auto& v) { return K::flatten(v[0]); }, {x}, {{6}, x.data});
  expect_run([](auto& v) { return K::squeeze(v[0], 1); }, {x}, {{2, 3}, x.data});
  expect_run([](auto& v) { return K::expand_dims(v[0], 0); }, {x}, {{1, 2, 1, 3}, x.data});
  expect_run([](auto& v) { return K::permute_dimensions(v[0], {2, 1, 0}); }, {x},
             {{3, 1, 2}, {1, 4, 2, 5, 3, 6}});
  const auto by_shape = [](auto& v) {
    const Tensor s = K::shape(v[0]);
    return K::reshape(v[0], {K::index(s, 2), K::index(s, 0) * K::index(s, 1)});
  };
  expect_run(by_shape, {x}, {{3, 2}, x.data});
}

TEST(ApiValuesShape, Repeating) {
  const Value x{{2, 2}, {1, 2, 3, 4}};
  expect_run([](auto& v) { return K::repeat_elements(v[0], 2, 1); }, {x},
             {{2, 4}, {1, 1, 2, 2, 3, 3, 4, 4}});
  expect_run([](auto& v) { return K::repeat(v[0], 2); }, {x},
             {{2, 2, 2}, {1, 2, 1, 2, 3, 4, 3, 4}});
  expect_run([](auto& v) { return K::tile(v[0], {2, 1}); }, {x},
             {{4, 2}, {1, 2, 3, 4, 1, 2, 3, 4}});
  expect_run([](auto& v) { return K::tile(v[0], {2}); }, {x}, {{2, 4}, {1, 2, 1, 2, 3, 4, 3, 4}});
  expect_run([](auto& v) { return K::tile(v[0], K::shape(v[1])); }, {x, Value({1, 2}, 0.0)},
             {{2, 4}, {1, 2, 1, 2, 3, 4, 3, 4}});
  check_gradient([](auto& v) { return K::tile(v[0], {3, 2}); }, {noise({2, 3}, 1)}, true);
}

TEST(ApiValuesShape, Resizing) {
  const Value x{{1, 2, 2, 1}, {1, 2, 3, 4}};
  const auto last = DataFormat::channels_last;
  expect_run([=](auto& v) { return K::resize_images(v[0], 1, 2, last); }, {x},
             {{1, 2, 4, 1}, {1, 1, 2, 2, 3, 3, 4, 4}});
  const auto bilinear = [=](auto& v) {
    return K::resize_images(v[0], 2, 2, last, Interpolation::bilinear);
  };
  expect_run(bilinear, {x},
             {{1, 4, 4, 1}, {1, 1.5, 2, 2, 2, 2.5, 3, 3, 3, 3.5, 4, 4, 3, 3.5, 4, 4}});
  check_gradient(bilinear, {noise({1, 2, 3, 2}, 1)}, true);
  const Value first{{1, 1, 1, 2, 1}, {1, 2}};
  expect_run([](auto& v) { return K::resize_volumes(v[0], 2, 1, 2, DataFormat::channels_first); },
             {first}, {{1, 1, 2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2}});
}

TEST(ApiValuesShape, Padding) {
  const Value x{{1, 2, 1}, {1, 2}};
  expect_run([](auto& v) { return K::temporal_padding(v[0], {2, 1}); }, {x},
             {{1, 5, 1}, {0, 0, 1, 2, 0}});
  const Value y{{1, 1, 2, 1}, {1, 2}};
  const auto pad = [](DataFormat format) {
    return [=](auto& v) {
      return K::spatial_2d_padding(v[0], {.padding = {{{1, 0}, {0, 1}}}, .data_format = format});
    };
  };
  expect_run(pad(DataFormat::channels_last), {y}, {{1, 2, 3, 1}, {0, 0, 0, 1, 2, 0}});
  expect_run(pad(DataFormat::channels_first), {y}, {{1, 1, 3, 2}, {0, 0, 1, 0, 2, 0}});
}

TEST(ApiValuesShape, Sequences) {
  expect(K::arange(4), {{4}, {0, 1, 2, 3}});
  expect(K::arange(-2), {{0}, std::vector<double>{}});
  expect(K::arange(1, {.stop = 8, .step = 3}), {{3}, {1, 4, 7}});
  expect(K::arange(3, {.stop = 0, .step = -2}), {{2}, {3, 1}});
  expect(K::arange(0, {.stop = 1, .step = 0.25, .dtype = DType::float32}),
         {{4}, {0, 0.25, 0.5, 0.75}});
  expect(K::arange(ints({}, {3})), {{3}, {0, 1, 2}});
  expect(K::one_hot(ints({3}, {1, 5, -1}), 3), {{3, 3}, {0, 1, 0, 0, 0, 0, 0, 0, 0}});
  expect(K::reverse(ints({2, 2}, {1, 2, 3, 4}), {0, 1}), {{2, 2}, {4, 3, 2, 1}});
}

TEST(ApiValuesShape, Slicing) {
  const Value x{{3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  expect_run([](auto& v) { return K::slice(v[0], {1, 0}, {2, 2}); }, {x}, {{2, 2}, {4, 5, 7, 8}});
  expect_run([](auto& v) { return K::slice(v[0], {2, 1}, {None, 1}); }, {x}, {{1, 1}, {8}});
  const auto at = [](std::vector<Index> i) { return [=](auto& v) { return K::getitem(v[0], i); }; };
  expect_run(at({1}), {x}, {{3}, {4, 5, 6}});
  expect_run(at({-1, -1}), {x}, {{}, {9}});
  expect_run(at({Slice{}, Slice{.start = 1}}), {x}, {{3, 2}, {2, 3, 5, 6, 8, 9}});
  expect_run(at({Ellipsis, Slice{.step = -1}}), {x}, {{3, 3}, {3, 2, 1, 6, 5, 4, 9, 8, 7}});
  expect_run(at({Slice{.start = 2, .step = -2}, 0}), {x}, {{2}, {7, 1}});
  expect_run(at({None, 0, Slice{.stop = 2}, None}), {x}, {{1, 2, 1}, {1, 2}});
  expect_run(at({ints({2}, {2, -3})}), {x}, {{2, 3}, {7, 8, 9, 1, 2, 3}});
  check_gradient(at({Slice{.stop = 2}, Slice{.step = 2}}), {noise({3, 4}, 1)}, true);
}

TEST(ApiValuesShape, TensorsAsIndices) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  const Tensor i = K::placeholder({.shape = Shape{}, .dtype = DType::int32});
  const Function row = K::function({i}, {K::index(x, i)});
  expect_near(value_of(row({Array(int32_t{1})})[0]), {{2}, {3, 4}});
  expect_near(value_of(row({Array(int32_t{-2})})[0]), {{2}, {1, 2}});
  const Function head = K::function({i}, {K::getitem(x, {Slice{}, Slice{.stop = i}})});
  expect_near(value_of(head({Array(int32_t{1})})[0]), {{2, 1}, {1, 3}});
  expect_near(value_of(head({Array(int32_t{9})})[0]), {{2, 2}, {1, 2, 3, 4}});
}

}  // namespace
}  // namespace horngate
