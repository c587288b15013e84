// scan and cond: values, gradients (first and second), directions, lengths, captures, nesting.
#include "prims/scan.h"

#include "finite_differences.h"
#include "prims/cond.h"

namespace horngate {
namespace {

using testing::expect_gradients;
using testing::expect_two_gradients;
using testing::input64;
using testing::random_array;

/// h' = tanh(x_t . W + h . U); ys = h' * 2. Everything that a gradient can go wrong with: a sequence, a carry and
/// two captures.
Tensors simple_rnn(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& u, int64_t axis,
                   bool reversed) {
  ScanSpec spec;
  spec.xs = {x};
  spec.x_axes = {axis};
  spec.x_reversed = {reversed};
  spec.inits = {h};
  spec.y_axes = {axis};
  spec.y_reversed = {0};
  return make_scan("test", spec,
                   [&](const Tensors& xs, const Tensors& carries, const Tensor&) -> StepResult {
                     const Tensor next = tanh(dot(xs[0], w) + dot(carries[0], u));
                     return {{next}, {next * 2.0}};
                   });
}

TEST(Scan, EqualsAnUnrolledLoop) {
  const Tensor x = input64({None, 5, 3}), h = input64({None, 2}), w = input64({3, 2}),
               u = input64({2, 2});
  for (bool reversed : {false, true}) {
    const Tensors out = simple_rnn(x, h, w, u, 1, reversed);
    Tensor state = h;
    std::vector<Tensor> steps;
    for (int64_t t = 0; t < 5; ++t) {
      const int64_t at = reversed ? 4 - t : t;
      state = tanh(dot(prim::squeeze(prim::slice_axis(x, 1, at, at + 1), {1}), w) + dot(state, u));
      steps.push_back(prim::expand_dims(state * 2.0, {1}));
    }
    const Tensor stacked = prim::concat(steps, 1);
    const Arrays at{random_array({2, 5, 3}, 1), random_array({2, 2}, 2), random_array({3, 2}, 3),
                    random_array({2, 2}, 4)};
    const Arrays got = function({x, h, w, u}, {out[0], out[1], state, stacked})(at);
    EXPECT_EQ(got[0].to_vector<double>(), got[2].to_vector<double>());
    EXPECT_EQ(got[1].to_vector<double>(), got[3].to_vector<double>());
  }
}

TEST(Scan, GradientsForLengthsAxesAndDirections) {
  for (int64_t axis : {0, 1})
    for (bool reversed : {false, true})
      for (int64_t length : {1, 3}) {
        const Tensor x = axis == 0 ? input64({None, None, 3}) : input64({None, None, 3});
        const Tensor h = input64({None, 2}), w = input64({3, 2}), u = input64({2, 2});
        const Tensors out = simple_rnn(x, h, w, u, axis, reversed);
        const Ints dims = axis == 0 ? Ints{length, 2, 3} : Ints{2, length, 3};
        const Tensor y = sum(out[1] * out[1]) + sum(out[0]);
        expect_gradients({x, h, w, u}, y,
                         {random_array(dims, 1), random_array({2, 2}, 2), random_array({3, 2}, 3),
                          random_array({2, 2}, 4)});
      }
}

TEST(Scan, LengthZeroGivesTheInitialCarry) {
  const Tensor x = input64({None, None, 3}), h = input64({None, 2}), w = input64({3, 2}),
               u = input64({2, 2});
  const Tensors out = simple_rnn(x, h, w, u, 1, false);
  const Array h0 = random_array({2, 2}, 2);
  const Arrays got = function({x, h, w, u}, {out[0], out[1]})(
      {Array(DType::float64, {2, 0, 3}), h0, random_array({3, 2}), random_array({2, 2})});
  EXPECT_EQ(got[0].to_vector<double>(), h0.to_vector<double>());
  EXPECT_EQ(got[1].shape().str(), "(2, 0, 2)");
}

TEST(Scan, SecondDerivatives) {
  const Tensor x = input64({2, 3, 2}), h = input64({2, 2}), w = input64({2, 2}),
               u = input64({2, 2});
  const Tensors out = simple_rnn(x, h, w, u, 1, false);
  expect_two_gradients({x, h, w, u}, out[1],
                       {random_array({2, 3, 2}, 1), random_array({2, 2}, 2),
                        random_array({2, 2}, 3), random_array({2, 2}, 4)},
                       1e-5);
}

TEST(Scan, Nested) {
  // Outer loop over rows, inner loop over columns, the inner one capturing the outer carry.
  const Tensor x = input64({3, 4}), c = input64(Shape{});
  ScanSpec outer;
  outer.xs = {x};
  outer.x_axes = {0};
  outer.x_reversed = {0};
  outer.inits = {c};
  const Tensor total = make_scan(
      "test", outer, [&](const Tensors& row, const Tensors& carry, const Tensor&) -> StepResult {
        ScanSpec inner;
        inner.xs = {row[0]};
        inner.x_axes = {0};
        inner.x_reversed = {0};
        inner.inits = {carry[0]};
        const Tensor r = make_scan(
            "test", inner,
            [&](const Tensors& item, const Tensors& sum_so_far, const Tensor&) -> StepResult {
              return {{tanh(sum_so_far[0] + item[0] * carry[0])}, {}};
            })[0];
        return {{r + carry[0]}, {}};
      })[0];
  expect_gradients({x, c}, total, {random_array({3, 4}, 1), random_array({}, 2)});
  expect_two_gradients({x, c}, total, {random_array({3, 4}, 1), random_array({}, 2)}, 1e-5);
}

TEST(Scan, UnusedResultsCostNothing) {
  const Tensor x = input64({None, 5, 3}), h = input64({None, 2}), w = input64({3, 2}),
               u = input64({2, 2});
  const Tensors out = simple_rnn(x, h, w, u, 1, false);
  const Function f = function({x, h, w, u}, {out[0]});
  const Arrays got = f(
      {random_array({2, 5, 3}), random_array({2, 2}), random_array({3, 2}), random_array({2, 2})});
  EXPECT_EQ(got.size(), 1u);
}

TEST(Cond, RunsOneBranchAndDifferentiatesIt) {
  const Tensor p = placeholder({.shape = Shape{}, .dtype = DType::bool_});
  const Tensor x = input64({3}), y = input64({3});
  const Tensor r = make_cond(
      "test", p, [&] { return Tensors{exp(x) * y}; }, [&] { return Tensors{x * x * x}; })[0];
  const Tensors d = gradients(sum(r), {x, y});
  const Function f = function({p, x, y}, {r, d[0], d[1]});
  const Array xs = random_array({3}, 1), ys = random_array({3}, 2);
  for (bool condition : {true, false}) {
    const Arrays got = f({Array(condition), xs, ys});
    for (int64_t i = 0; i < 3; ++i) {
      const double a = xs.data<double>()[i], b = ys.data<double>()[i];
      EXPECT_NEAR(got[0].data<double>()[i], condition ? std::exp(a) * b : a * a * a, 1e-12);
      EXPECT_NEAR(got[1].data<double>()[i], condition ? std::exp(a) * b : 3 * a * a, 1e-12);
      EXPECT_NEAR(got[2].data<double>()[i], condition ? std::exp(a) : 0, 1e-12);
    }
  }
}

TEST(Cond, InsideOfAScanWithSecondDerivatives) {
  const Tensor x = input64({4}), c = input64(Shape{});
  ScanSpec spec;
  spec.xs = {x};
  spec.x_axes = {0};
  spec.x_reversed = {0};
  spec.inits = {c};
  const Tensor r = make_scan(
      "test", spec, [&](const Tensors& xs, const Tensors& carry, const Tensor&) -> StepResult {
        const Tensor positive = greater(xs[0], 0.0);
        return {{make_cond(
                    "test", positive, [&] { return Tensors{carry[0] * xs[0] + c}; },
                    [&] { return Tensors{tanh(carry[0]) - xs[0] * xs[0]}; })[0]},
                {}};
      })[0];
  const Arrays at{Array::of({0.5, -0.3, 0.7, -0.9}), Array(0.4)};
  expect_gradients({x, c}, r, at);
  expect_two_gradients({x, c}, r, at, 1e-5);
}

TEST(Gradients, DisconnectedGivesNoneAndStrictSaysWhy) {
  clear_session();
  const Variable v = variable(Array::of({1.f, 2.f}), {.name = "kernel"}),
                 w = variable(Array::of({1.f}), {.name = "other"});
  const Tensors g = gradients(sum(cast(argmax(v, 0), DType::float32)), {v, w});
  EXPECT_FALSE(g[0].defined());
  EXPECT_FALSE(g[1].defined());
  try {
    (void)gradients(sum(cast(argmax(v, 0), DType::float32)), {v}, {.strict = true});
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("gradients (strict): argmax has no gradient (node \""),
              std::string::npos)
        << e.what();
    EXPECT_NE(std::string(e.what()).find("between the loss and variable \"kernel\"): "),
              std::string::npos)
        << e.what();
  }
  // A dead side path does not cut the live one.
  const Tensor live = gradients(sum(v * v + round(v)), {v})[0];
  EXPECT_EQ(eval(live).to_vector<float>(), (std::vector<float>{2, 4}));
}

}  // namespace
}  // namespace horngate
