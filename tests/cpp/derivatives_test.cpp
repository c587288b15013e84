// Derivatives beyond the first where a formula would divide by zero or a kernel has none: running products,
// recurrences, the CTC loss.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "finite_differences.h"
#include "prims/ctc.h"

namespace horngate {
namespace {

using testing::expect_two_gradients;
using testing::input64;
using testing::random_array;

TEST(Derivatives, RunningProductsWithZeros) {
  for (const std::vector<int64_t>& zeros :
       {std::vector<int64_t>{}, {0}, {2}, {4}, {1, 3}, {0, 4}, {0, 2, 4}, {1, 2, 3}}) {
    for (int mode = 0; mode < 4; ++mode) {
      const Tensor x = input64({5, None});
      const Tensor y = emit(
          attrs::cumprod{.axis = 0, .exclusive = (mode & 1) != 0, .reverse = (mode & 2) != 0}, {x});
      Array at = random_array({5, 2}, 7, 0.5, 1.5);
      for (int64_t z : zeros) at.data<double>()[2 * z] = 0;
      SCOPED_TRACE(::testing::Message() << "mode " << mode << ", " << zeros.size() << " zeros");
      expect_two_gradients({x}, y, {at});
    }
  }
  const Tensor none = input64({None, 3});
  const Tensor g = gradients(sum(emit(attrs::cumprod{.axis = 0}, {none})), {none})[0];
  EXPECT_EQ(function({none}, {g})({Array::zeros(DType::float64, {0, 3})})[0].dims(), (Ints{0, 3}));
}

TEST(Derivatives, RunningProductsThreeTimes) {
  // y = sum of cumprod(x) = x0 + x0 x1 + x0 x1 x2 at (0, 0, 0): d3y / dx0 dx1 dx2 = 1, all through zeros
  const Tensor x = input64({3});
  Tensor d = sum(emit(attrs::cumprod{}, {x}));
  for (int64_t i = 0; i < 3; ++i) d = index(gradients(d, {x})[0], i);
  EXPECT_EQ(function({x}, {d})({Array::zeros(DType::float64, {3})})[0].item<double>(), 1.0);
}

// Its derivative goes through the decomposition, where each place of an operand gets the whole cotangent.
TEST(Derivatives, OneOperandInSeveralPlaces) {
  const Tensor x = input64({5, 3}), channel = input64({3});
  const Tensor y =
      emit(attrs::batch_norm_grad{.axes = {0}, .epsilon = 1e-3}, {x, channel, channel, channel, x});
  expect_two_gradients({x, channel}, y, {random_array({5, 3}, 3), random_array({3}, 4, 0.5, 1.5)});
}

TEST(Derivatives, Recurrences) {
  for (bool reverse : {false, true})
    for (int64_t axis : {0, 1, -1}) {
      const Tensor a = input64({3, None, 2}), b = input64({None, 4, 2});
      const attrs::recurrence attrs{.axis = axis, .reverse = reverse};
      const Tensor y = emit(attrs, {a, b});
      EXPECT_EQ(y.shape(), (Shape{3, 4, 2}));
      Array factors = random_array({3, 4, 2}, 1);
      for (int64_t i : {3, 8, 14}) factors.data<double>()[i] = 0;
      const Arrays at{factors, random_array({3, 4, 2}, 2)};
      expect_two_gradients({a, b}, y, at);
      const Tensors in{a, b};
      const AttrRef ref(new AttrsOf<attrs::recurrence>(attrs));
      const Tensor parts = primitive(Prim::recurrence).decompose(in, ref.get())[0];
      const Arrays both = function({a, b}, {y, parts})(at);
      const std::vector<double> got = both[0].to_vector<double>(),
                                want = both[1].to_vector<double>();
      for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12);
    }
}

struct Ctc {
  Array inputs, labels, input_length, label_length;
};

/// Equal neighbours, labels that do not fit, padding of any kind, empty sequences.
Ctc ctc_problem() {
  return {random_array({6, 5, 4}, 3, -2, 2),
          Array::of<int64_t>({0, 1, 2, 1, 1, 0, 2, 2, 2, 1, -1, 9, 0, 0, 0, 5, -1, -1}, {6, 3}),
          Array::of<int64_t>({5, 5, 4, 3, 0, 2}), Array::of<int64_t>({3, 2, 3, 1, 0, 0})};
}

TEST(Derivatives, TheCtcLossOfPartsIsTheLoss) {
  for (DType dtype : {DType::float64, DType::float32, DType::float16})
    for (bool open : {false, true}) {
      const Ctc p = ctc_problem();
      const Tensor x =
          placeholder({.shape = open ? Shape{None, None, None} : Shape{6, 5, 4}, .dtype = dtype});
      const Tensor l =
          placeholder({.shape = open ? Shape{None, None} : Shape{6, 3}, .dtype = DType::int64});
      const Tensor n = placeholder({.shape = {None}, .dtype = DType::int64});
      const Tensor m = placeholder({.shape = {None}, .dtype = DType::int64});
      const Tensor loss = emit(attrs::ctc_loss{}, {x, l, n, m});
      const Tensor parts = rules::ctc_loss_of_parts(x, l, n, m);
      const Tensor dx = gradients(sum(loss), {x})[0];
      const Tensor d_parts = gradients(sum(parts), {x})[0];
      const Arrays out = function({x, l, n, m}, {loss, parts, dx, d_parts})(
          {p.inputs, p.labels, p.input_length, p.label_length});
      const double tolerance = dtype == DType::float64   ? 1e-12
                               : dtype == DType::float32 ? 1e-5
                                                         : 5e-3;
      for (size_t k : {0u, 2u}) {
        const std::vector<double> want = out[k].to_vector<double>(),
                                  got = out[k + 1].to_vector<double>();
        for (size_t i = 0; i < want.size(); ++i) {
          if (std::isinf(want[i]))
            EXPECT_EQ(got[i], want[i]);
          else
            EXPECT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::fabs(want[i])));
        }
      }
      EXPECT_EQ(out[0].to_vector<double>()[2], std::numeric_limits<double>::infinity());
    }
}

TEST(Derivatives, TheCtcLossTwiceAndThreeTimes) {
  const Tensor x = input64({2, None, None});
  const Tensor loss =
      emit(attrs::ctc_loss{},
           {x, constant(Array::of<int64_t>({1, 1, 0, 2}, {2, 2})),
            constant(Array::of<int64_t>({4, 3})), constant(Array::of<int64_t>({2, 2}))});
  const Array at = random_array({2, 4, 4}, 5, -1, 1);
  expect_two_gradients({x}, loss, {at});
  const Tensor first = gradients(loss, {x})[0];
  const Tensor second = gradients(sum(first * first), {x})[0];
  testing::expect_gradients({x}, second, {at}, 1e-4);
}

TEST(Derivatives, AWrongLabelIsAnErrorInTheSecondDerivativeToo) {
  const Tensor x = input64({1, 3, 3});
  const Tensor loss =
      ctc_batch_cost(constant(Array::of<int32_t>({7}, {1, 1})), x,
                     constant(Array::of<int32_t>({3})), constant(Array::of<int32_t>({1})));
  const Tensor first = gradients(loss, {x})[0];
  const Tensor second = gradients(sum(first), {x})[0];
  EXPECT_THROW((void)function({x}, {second})({random_array({1, 3, 3}, 1, 0.1, 1)}), Error);
}

// Engines that lack a primitive run what it is made of; kernels must give the same.
TEST(Decompositions, GiveWhatThePrimitiveGives) {
  const Array all = Array::of<double>({-40, -3, -0.7, -1e-3, -1e-12, 0, 1e-17, 1e-9, 0.3, 5, 60});
  const Array positive = Array::of<double>({1e-17, 1e-12, 1e-9, 1e-3, 0.3, 0.99, 1, 1.5, 7, 1e9});
  const Tensor x = input64({None}), y = input64({None});
  const auto expect_same = [&](const Tensor& whole, const Array& a, const Array& b) {
    const Node& n = *whole.node();
    const Tensors parts = primitive(n.prim).decompose({n.in.data(), n.in.size()}, n.attrs.get());
    ASSERT_EQ(parts.size(), 1u);
    const Arrays got = function({x, y}, {whole, parts[0]})({a, b});
    for (int64_t i = 0; i < a.size(); ++i) {
      const double wanted = got[0].data<double>()[i];
      EXPECT_NEAR(got[1].data<double>()[i], wanted, 1e-14 * std::max(1e-300, std::fabs(wanted)))
          << primitive(n.prim).name << " of " << a.data<double>()[i];
    }
  };
  for (const auto& f : {prim::expm1, prim::sigmoid}) expect_same(f(x), all, all);
  for (const auto& f : {prim::log1p, prim::rsqrt}) expect_same(f(x), positive, positive);
}

// floor(1 / 0.1) is 10 and 1 // 0.1 is 9: what is made of a rounded quotient is another number.
TEST(Decompositions, ThereAreNoneOfQuotientsThatAreRounded) {
  const Tensor x = input64({None}), y = input64({None});
  const auto parts = [](const Tensor& whole) {
    const Node& n = *whole.node();
    const auto decompose = primitive(n.prim).decompose;
    return decompose ? decompose({n.in.data(), n.in.size()}, n.attrs.get()).size() : 0;
  };
  EXPECT_EQ(parts(prim::floordiv(x, y)), 0u);
  EXPECT_EQ(parts(prim::mod(x, y)), 0u);
  EXPECT_EQ(parts(prim::mod(cast(x, DType::int32), cast(y, DType::int32))), 1u);
}

}  // namespace
}  // namespace horngate
