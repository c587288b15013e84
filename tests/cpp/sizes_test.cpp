// Sizes near and beyond what 64 bits or any memory hold, and integers that a double does not hold.
#include <gtest/gtest.h>
#include <horngate/horngate.h>

#include <cmath>
#include <limits>

#include "error_of.h"
#include "ir/checked.h"

namespace horngate {
namespace {

using testing::error_of;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kHuge = int64_t{1} << 62;
constexpr int64_t kOdd = (int64_t{1} << 53) + 1;  // no double has this value

Tensor image() { return placeholder({.shape = {None, 8, 8, 3}}); }

TEST(Sizes, CheckedArithmetic) {
  EXPECT_EQ(checked_add("f", kMost, 0), kMost);
  EXPECT_EQ(checked_mul("f", kHuge, -2), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(error_of<ValueError>([] { checked_add("f", kMost, 1); }),
            "f: sizes must fit into 64 bits; got 9223372036854775807 + 1.");
  EXPECT_EQ(error_of<ValueError>([] { checked_mul("f", kHuge, 2); }),
            "f: sizes must fit into 64 bits; got 4611686018427387904 * 2.");
}

TEST(Sizes, Paddings) {
  for (const int64_t n : {kMost, kHuge, kMostBytes + 1}) {
    const std::string wanted =
        "temporal_padding: padding must have entries of at most 281474976710656; got (0, " +
        std::to_string(n) + ").";
    EXPECT_EQ(error_of<ValueError>(
                  [&] { (void)temporal_padding(placeholder({.shape = {None, 4, 3}}), {0, n}); }),
              wanted);
  }
  EXPECT_EQ(error_of<ValueError>([&] {
              (void)temporal_padding(placeholder({.shape = {None, 4, 3}}),
                                     {kMostBytes, kMostBytes});
            }),
            "temporal_padding: a value of shape (None, 562949953421316, 3) and dtype float32 is "
            "larger than any memory.");
  EXPECT_THROW((void)spatial_2d_padding(image(), {.padding = {{{kHuge, kHuge}, {1, 1}}}}),
               ValueError);
}

TEST(Sizes, WindowsAndTheirDistances) {
  const Tensor kernel = placeholder({.shape = {3, 3, 3, 2}});
  EXPECT_EQ(error_of<ValueError>([&] {
              (void)conv2d(image(), kernel,
                           {.padding = Padding::same, .dilation_rate = {kHuge, 1}});
            }),
            "conv2d: dilation_rate must be at most 2147483647; got (4611686018427387904, 1).");
  EXPECT_EQ(error_of<ValueError>([&] { (void)conv2d(image(), kernel, {.strides = {1, kMost}}); }),
            "conv2d: strides must be at most 2147483647; got (1, 9223372036854775807).");
  EXPECT_THROW((void)pool2d(image(), {kMost, 1}, {.padding = Padding::same}), ValueError);
  EXPECT_THROW((void)conv2d_transpose(image(), kernel, {1, kMost, kMost, 3}), ValueError);
  EXPECT_THROW((void)local_conv1d(placeholder({.shape = {None, 4, 3}}),
                                  placeholder({.shape = {2, 9, 2}}), kMost, kMost),
               ValueError);
}

TEST(Sizes, Shapes) {
  EXPECT_EQ(error_of<ValueError>([] { (void)placeholder({.shape = {None, kHuge, 4}}); }),
            "placeholder: a value of shape (None, 4611686018427387904, 4) and dtype float32 is "
            "larger than any memory.");
  EXPECT_THROW((void)placeholder({.shape = {0, kHuge, 4}}), ValueError);
  EXPECT_EQ(error_of<ValueError>([] { (void)placeholder({.ndim = kHuge}); }),
            "placeholder: ndim must be at most 64; got 4611686018427387904.");
  EXPECT_EQ(error_of<ValueError>([] { (void)placeholder({.shape = Shape(Ints{3, -5})}); }),
            "placeholder: shape must have entries of at least 0, or None; got (3, -5).");
  const Tensor x = placeholder({.shape = {None, 4}});
  for (const int64_t n : {kMost, kHuge}) {
    EXPECT_THROW((void)repeat_elements(x, n, 1), ValueError);
    EXPECT_THROW((void)tile(x, {1, n}), ValueError);
    EXPECT_THROW((void)reshape(x, {-1, n}), ValueError);
    EXPECT_THROW((void)repeat(x, n), ValueError);
    EXPECT_THROW((void)slice(placeholder({.shape = {None}}), {n}, {n}), ValueError);
    EXPECT_THROW((void)zeros({n, n}), ValueError);
    EXPECT_THROW((void)constant(1.0f, {.shape = {n, 2}}), ValueError);
  }
  EXPECT_THROW((void)reshape(x, {std::numeric_limits<int64_t>::min(), 2}), ValueError);
}

TEST(Sizes, IndicesAndSteps) {
  const Tensor x = placeholder({.shape = {None, 4}});
  const Array fed = Array::of<float>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  for (const int64_t n : {kMost, -kMost - 1, kHuge, -kHuge})
    EXPECT_THROW((void)getitem(x, {n}), IndexError) << n;
  const auto shape = [&](const Tensor& y) { return function({x}, {y})({fed})[0].dims(); };
  EXPECT_EQ(shape(getitem(x, {Slice{1, {}, kMost}})), (Ints{1, 4}));
  EXPECT_EQ(shape(getitem(x, {Slice{{}, {}, -kMost - 1}})), (Ints{1, 4}));
  EXPECT_EQ(shape(getitem(x, {Slice{-kMost - 1, kMost}})), (Ints{2, 4}));
  const Tensor sizes =
      getitem(horngate::shape(placeholder({.shape = {None, 4, 5}})), {Slice{1, {}, kMost}});
  EXPECT_EQ(eval(sizes).to_vector<int64_t>(), (std::vector<int64_t>{4}));
}

TEST(Sizes, OnesThatOnlyACallKnows) {
  const Tensor n = placeholder({.shape = Shape{}, .dtype = DType::int64});
  const Tensor x = placeholder({.shape = {None, 4}});
  const Array fed = Array::zeros(DType::float32, {2, 4});
  const Function f = function({x, n}, {reshape(x, {n, -1})});
  const Function g = function({n}, {ones({n, n})});
  for (const int64_t size : {kMost, kHuge, -kMost - 1, int64_t{-7}}) {
    EXPECT_THROW(f({fed, Array(size)}), ValueError) << size;
    EXPECT_THROW(g({Array(size)}), ValueError) << size;
  }
  EXPECT_EQ(f({fed, Array(int64_t{8})})[0].dims(), (Ints{8, 1}));
}

TEST(Integers, ItemsStayExact) {
  EXPECT_EQ(Array(kOdd).item<int64_t>(), kOdd);
  EXPECT_EQ(Array(-kOdd).item<int64_t>(), -kOdd);
  EXPECT_EQ(Array(uint64_t{1} << 63 | 1).item<uint64_t>(), uint64_t{1} << 63 | 1);
  EXPECT_EQ(Array(7.9f).item<int>(), 7);
  EXPECT_EQ(Array(int32_t{-3}).item<int64_t>(), -3);
  EXPECT_EQ(Array(int64_t{3}).item<float>(), 3.0f);
  EXPECT_TRUE(Array(0.5).item<bool>());
  for (const double odd : {HUGE_VAL, -HUGE_VAL, std::nan(""), 1e300, -2.5}) {
    EXPECT_EQ(Array(odd).item<int64_t>(), Array(odd).cast(DType::int64).data<int64_t>()[0]);
    EXPECT_EQ(Array(odd).item<uint64_t>(), Array(odd).cast(DType::uint64).data<uint64_t>()[0]);
  }
}

TEST(Integers, ConstantsSequencesAndNumbersStayExact) {
  const auto ints = [](const Tensor& t) { return eval(t).to_vector<int64_t>(); };
  EXPECT_EQ(ints(constant(kOdd, {.dtype = DType::int64, .shape = {2}})),
            (std::vector<int64_t>{kOdd, kOdd}));
  EXPECT_EQ(ints(arange(kOdd, {.stop = kOdd + 5, .step = 2, .dtype = DType::int64})),
            (std::vector<int64_t>{kOdd, kOdd + 2, kOdd + 4}));
  const Variable v = variable(Array(int64_t{0}));
  EXPECT_EQ(ints(maximum(v, kOdd)), (std::vector<int64_t>{kOdd}));
  EXPECT_EQ(ints(clip(v, kOdd, kOdd + 2)), (std::vector<int64_t>{kOdd}));
  EXPECT_EQ(ints(cast(cast(constant(Array(kOdd)), DType::uint64), DType::int64)),
            (std::vector<int64_t>{kOdd}));
  set_value(v, Array(kOdd));
  EXPECT_EQ(get_value(v).item<int64_t>(), kOdd);
  EXPECT_EQ(ints(v * constant(Array(int64_t{1})) - constant(Array(int64_t{1}))),
            (std::vector<int64_t>{kOdd - 1}));
}

TEST(Arrays, ReshapeCountsWithoutOverflow) {
  const Array a = Array::zeros(DType::float32, {2, 3});
  EXPECT_EQ(a.reshape({-1, 2}).dims(), (Ints{3, 2}));
  EXPECT_EQ(Array::zeros(DType::float32, {0, 3}).reshape({-1, 0}).dims(), (Ints{0, 0}));
  EXPECT_THROW(a.reshape({-1, kHuge, 4}), ValueError);
  EXPECT_THROW(a.reshape({-1, -1}), ValueError);
  EXPECT_THROW(a.reshape({-1, 4}), ValueError);
}

}  // namespace
}  // namespace horngate
