// Corners of the nn functions: no samples, no time steps, half types, phases and switches inside
// loops, second derivatives.
#include "api_values.h"

namespace horngate {
namespace {

using namespace testing_api;

RnnStepFunction tanh_step(const Tensor& w) {
  return [=](const Tensor& x, const Tensors& s) {
    const Tensor h = tanh(x + dot(s[0], w));
    return RnnStep{h, {h}};
  };
}

TEST(ApiEdge, NoSamples) {
  const Tensor image = input({None, 6, 6, 2}),
               k = constant(noise({3, 3, 2, 4}, 1).array(DType::float32));
  const Array none = Array::zeros(DType::float32, {0, 6, 6, 2});
  const Tensor y = conv2d(image, k, {.padding = Padding::same});
  EXPECT_EQ(function({image}, {y})({none})[0].dims(), (Ints{0, 6, 6, 4}));
  EXPECT_EQ(function({image}, {pool2d(image, {2, 2})})({none})[0].dims(), (Ints{0, 5, 5, 2}));
  EXPECT_EQ(function({image}, {gradients(sum(y), {image})[0]})({none})[0].dims(),
            (Ints{0, 6, 6, 2}));

  const Tensor x = input({None, None, 3}), h = input({None, 3});
  const Tensor w = constant(noise({3, 3}, 2).array(DType::float32));
  const RnnResult r = rnn(tanh_step(w), x, {h});
  const Arrays got = function({x, h}, {r.last_output, r.outputs})(
      {Array::zeros(DType::float32, {0, 4, 3}), Array::zeros(DType::float32, {0, 3})});
  EXPECT_EQ(got[0].dims(), (Ints{0, 3}));
  EXPECT_EQ(got[1].dims(), (Ints{0, 4, 3}));

  const Tensor t = input({None, 4}), p = input({None, 4});
  const Array rows = Array::zeros(DType::float32, {0, 4});
  EXPECT_EQ(function({t, p}, {categorical_crossentropy(t, p)})({rows, rows})[0].dims(), (Ints{0}));
}

TEST(ApiEdge, NoTimeSteps) {
  const Tensor x = input({None, None, 2}), h = input({None, 2}), m = input({None, None});
  const RnnStepFunction step = [](const Tensor& t, const Tensors& s) {
    return RnnStep{t * 3.0, {s[0] + t}};
  };
  const Arrays feed{Array::zeros(DType::float32, {2, 0, 2}), Array::full(DType::float32, {2, 2}, 5),
                    Array::zeros(DType::float32, {2, 0})};
  for (const Tensor& mask : {Tensor(), m}) {
    const RnnResult r = rnn(step, x, {h}, {.mask = mask});
    const Arrays got = function({x, h, m}, {r.last_output, r.outputs, r.new_states[0]})(feed);
    EXPECT_EQ(got[0].to_vector<float>(), std::vector<float>(4, 0.0f));
    EXPECT_EQ(got[1].dims(), (Ints{2, 0, 2}));
    EXPECT_EQ(got[2].to_vector<float>(), std::vector<float>(4, 5.0f));
    const Tensor dh = gradients(sum(r.new_states[0]), {h})[0];
    EXPECT_EQ(function({x, h, m}, {dh})(feed)[0].to_vector<float>(), std::vector<float>(4, 1.0f));
  }
}

TEST(ApiEdge, HalfTypes) {
  const Value x = noise({4, 6}, 3, -3, 3), t = noise({4, 6}, 4, 0, 1),
              p = noise({4, 6}, 5, 0.1, 0.9);
  const std::vector<std::pair<Op, std::vector<Value>>> ops{
      {[](const Tensors& v) { return relu(v[0], {.alpha = 0.1, .max_value = 2}); }, {x}},
      {[](const Tensors& v) { return softplus(v[0]); }, {x}},
      {[](const Tensors& v) { return elu(v[0]); }, {x}},
      {[](const Tensors& v) { return softmax(v[0]); }, {x}},
      {[](const Tensors& v) { return binary_crossentropy(v[0], v[1]); }, {t, p}},
      {[](const Tensors& v) { return categorical_crossentropy(v[0], v[1]); }, {t, p}},
      {[](const Tensors& v) { return l2_normalize(v[0], 1); }, {x}},
      {[](const Tensors& v) { return normalize_batch_in_training(v[0], {}, {}, {0}).normalized; },
       {x}},
      {[](const Tensors& v) { return conv1d(reshape(v[0], {1, 4, 6}), reshape(v[1], {2, 6, 2})); },
       {x, p}},
      {[](const Tensors& v) { return dropout(v[0], 0.5, {.seed = 1}); }, {x}},
  };
  for (size_t i = 0; i < ops.size(); ++i) {
    SCOPED_TRACE(i);
    const Value want = run(ops[i].first, ops[i].second);
    expect_near(run(ops[i].first, ops[i].second, true, DType::float32), want, 1e-5);
    expect_near(run(ops[i].first, ops[i].second, true, DType::float16), want, 1e-2);
    expect_near(run(ops[i].first, ops[i].second, true, DType::bfloat16), want, 6e-2);
  }
}

TEST(ApiEdge, PhaseAndSwitchInsideLoops) {
  const Tensor x = input({3, 2}, DType::float64);
  const Tensor y = map_fn(
      [](const Tensor& row) {
        const Tensor big = greater(sum(row), constant(Array(1.0)));
        const Tensor chosen = switch_(big, [&] { return row * 10.0; }, [&] { return -row; });
        return in_train_phase(chosen, row);
      },
      x);
  const Array rows = Array::of<double>({1, 1, 0, 0.5, 3, -1}, {3, 2});
  const Function f = function({x, learning_phase()}, {y, gradients(sum(y), {x})[0]});
  const Arrays train = f({rows, Array(1)}), test = f({rows, Array(0)});
  EXPECT_EQ(train[0].to_vector<double>(), (std::vector<double>{10, 10, -0.0, -0.5, 30, -10}));
  EXPECT_EQ(train[1].to_vector<double>(), (std::vector<double>{10, 10, -1, -1, 10, 10}));
  EXPECT_EQ(test[0].to_vector<double>(), rows.to_vector<double>());
  EXPECT_EQ(test[1].to_vector<double>(), std::vector<double>(6, 1.0));
}

// A mask that the step makes once, at its first call, is the same at all time steps; one that it
// makes at each call is not.
TEST(ApiEdge, DropoutInSteps) {
  const Tensor x = input({2, 50, 8}, DType::float64);
  Tensor kept;
  const auto outputs = [&](bool keep) {
    const RnnStepFunction step = [&, keep](const Tensor& t, const Tensors&) {
      if (!keep || !kept.defined()) kept = dropout(ones_like(t), 0.5, {.seed = 1});
      return RnnStep{t * kept, {}};
    };
    const RnnResult r = rnn(step, x, {});
    return value_of(function({x}, {r.outputs})({Array::full(DType::float64, {2, 50, 8}, 1.0)})[0]);
  };
  const auto rows_differ = [](const Value& v) {
    bool differ = false;
    for (int64_t t = 1; t < 50; ++t)
      for (int64_t j = 0; j < 8; ++j) differ |= v.at({0, t, j}) != v.at({0, 0, j});
    return differ;
  };
  EXPECT_FALSE(rows_differ(outputs(true)));
  EXPECT_TRUE(rows_differ(outputs(false)));
}

TEST(ApiEdge, SecondDerivatives) {
  const auto penalty = [](const Op& op) {
    return [op](const Tensors& t) {
      const Tensors d = gradients(sum(op(t) * op(t)), {t[0]});
      return d[0] * d[0];
    };
  };
  check_gradient(penalty([](const Tensors& t) { return softplus(t[0]); }), {noise({2, 3}, 6)});
  check_gradient(penalty([](const Tensors& t) { return elu(t[0]); }), {noise({2, 3}, 7)});
  check_gradient(penalty([](const Tensors& t) {
                   return conv2d(t[0], t[1], {.strides = {2, 1}, .padding = Padding::same});
                 }),
                 {noise({1, 5, 4, 2}, 8), noise({3, 2, 2, 2}, 9)});
  check_gradient(penalty([](const Tensors& t) {
                   return normalize_batch_in_training(t[0], t[1], {}, {0}).normalized;
                 }),
                 {noise({4, 2}, 10), noise({2}, 11)}, false, 1e-4);
  check_gradient(
      penalty([](const Tensors& t) { return rnn(tanh_step(t[1]), t[0], {t[2]}).outputs; }),
      {noise({2, 3, 2}, 12), noise({2, 2}, 13), noise({2, 2}, 14)}, false, 1e-4);
  check_gradient(penalty([&](const Tensors& t) {
                   return switch_(
                       greater(sum(t[0]), -100.0), [&] { return tanh(t[0]); },
                       [&] { return t[0]; });
                 }),
                 {noise({2, 3}, 15)});
}

TEST(ApiEdge, VariablesAsStates) {
  const Variable h = variable(Array::zeros(DType::float32, {2, 3}), {.name = "h"});
  const Tensor x = input({2, None, 3});
  const Tensor w = constant(noise({3, 3}, 16).array(DType::float32));
  const RnnResult r = rnn(tanh_step(w), x, {h});
  const Function f = function({x}, {r.last_output}, {update(h, r.new_states[0])});
  const Array a = noise({2, 4, 3}, 17).array(DType::float32),
              b = noise({2, 3, 3}, 18).array(DType::float32);
  (void)f({a});
  const std::vector<float> twice = f({b})[0].to_vector<float>();
  // One run over both pieces gives the same.
  std::vector<float> both(2 * 7 * 3);
  for (int64_t n = 0; n < 2; ++n) {
    std::copy_n(a.data<float>() + n * 12, 12, both.begin() + n * 21);
    std::copy_n(b.data<float>() + n * 9, 9, both.begin() + n * 21 + 12);
  }
  set_value(h, Array::zeros(DType::float32, {2, 3}));
  const std::vector<float> once = f({Array::of(both, {2, 7, 3})})[0].to_vector<float>();
  for (size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(once[i], twice[i], 1e-6);
}

// Found under the undefined sanitizer: what has no elements has no memory either.
TEST(ApiEdge, LoopsOverABatchOfNothing) {
  const Tensor x = placeholder({.shape = {0, 3, 2}}), h = placeholder({.shape = {0, 2}});
  const RnnStepFunction step = [](const Tensor& in, const Tensors& states) {
    return RnnStep{in + states[0], {states[0]}};
  };
  const RnnResult r = rnn(step, x, {h});
  const Function f =
      function({x, h}, {r.last_output, r.outputs, gradients(sum(r.outputs), {h})[0]});
  const Arrays y =
      f({Array::zeros(DType::float32, {0, 3, 2}), Array::zeros(DType::float32, {0, 2})});
  EXPECT_EQ(y[1].dims(), (Ints{0, 3, 2}));
  EXPECT_EQ(y[2].dims(), (Ints{0, 2}));
}

TEST(ApiEdge, RowsOfNothingAreGathered) {
  const Tensor x = placeholder({.shape = {2, 0}});
  const Tensor rows = gather(exp(x), constant(Array::of<int64_t>({1, 0, 1})));
  const Function f = function({x}, {rows, gradients(sum(rows), {x})[0]});
  const Arrays y = f({Array::zeros(DType::float32, {2, 0})});
  EXPECT_EQ(y[0].dims(), (Ints{3, 0}));
  EXPECT_EQ(y[1].dims(), (Ints{2, 0}));
}

// A node that simplifying turns into one of another kind is compared as what it has become.
TEST(ApiEdge, NodesThatBecomeOthersAreMerged) {
  const Tensor x = placeholder({.shape = {3, 3}});
  const Tensor flat = reshape(x, {9});
  const Function f =
      function({x}, {expand_dims(flat, 1), expand_dims(flat, 1) + expand_dims(flat, 1),
                     squeeze(expand_dims(flat, 1), 1)});
  const Arrays y = f({Array::full(DType::float32, {3, 3}, 1)});
  EXPECT_EQ(y[0].dims(), (Ints{9, 1}));
  EXPECT_EQ(y[1].data<float>()[8], 2.0f);
  EXPECT_EQ(y[2].dims(), (Ints{9}));
}

// Of 16 bits too, whose products overflow the int in which C++ computes them.
TEST(ApiEdge, PowersOfIntegersWrap) {
  for (const DType dtype : {DType::uint16, DType::int16}) {
    const Array x = Array::of({65535, 301, 40001}).cast(dtype);
    const Array powers = eval(pow(constant(x), 7)).cast(DType::uint16);
    EXPECT_EQ(powers.str(), "[65535, 44101, 38337]") << name_of(dtype);
  }
}

}  // namespace
}  // namespace horngate
