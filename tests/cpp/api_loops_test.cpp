// rnn, map_fn, folds, switch_, the learning phase, scopes.
#include "api_values.h"
#include "ir/node.h"

namespace horngate {
namespace {

using namespace testing_api;

/// h = tanh(x W + h R); a second state counts with an even number of steps' sign.
RnnStepFunction simple_step(const Tensor& w, const Tensor& r) {
  return [=](const Tensor& x, const Tensors& s) {
    const Tensor h = tanh(dot(x, w) + dot(s[0], r));
    return RnnStep{h * 2.0, {h, s[1] * 0.5 + h}};
  };
}

struct RnnCase {
  bool backwards = false, masked = false, unroll = false, open = false;
};

Value slow_rnn(const Value& x, const Value& w, const Value& r, const Value* mask, bool backwards,
               Value* last, Value* state) {
  const int64_t n = x.dims[0], t_count = x.dims[1], in = x.dims[2], u = w.dims[1];
  Value outputs({n, t_count, u}), h({n, u}), s({n, u}), out({n, u});
  for (int64_t step = 0; step < t_count; ++step) {
    const int64_t t = backwards ? t_count - 1 - step : step;
    const Value before = h;
    for (int64_t b = 0; b < n; ++b) {
      const bool on = !mask || mask->at({b, t}) != 0;
      for (int64_t j = 0; j < u; ++j) {
        double z = 0;
        for (int64_t i = 0; i < in; ++i) z += x.at({b, t, i}) * w.at({i, j});
        for (int64_t i = 0; i < u; ++i) z += before.at({b, i}) * r.at({i, j});
        if (on) {
          h.at({b, j}) = std::tanh(z);
          s.at({b, j}) = s.at({b, j}) * 0.5 + std::tanh(z);
          out.at({b, j}) = 2 * std::tanh(z);
        }
        outputs.at({b, step, j}) = out.at({b, j});
      }
    }
  }
  *last = out;
  *state = s;
  return outputs;
}

TEST(ApiLoops, Rnn) {
  const Value x = noise({3, 5, 2}, 1), w = noise({2, 4}, 2), r = noise({4, 4}, 3), zero({3, 4});
  const Value mask({3, 5}, std::vector<double>{1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});
  for (int bits = 0; bits < 16; ++bits) {
    const RnnCase c{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
    if (c.unroll && c.open) continue;
    Value last, state;
    const Value outputs = slow_rnn(x, w, r, c.masked ? &mask : nullptr, c.backwards, &last, &state);
    const auto part = [&](int which) {
      return [&, which](const Tensors& t) {
        const RnnResult result = rnn(
            simple_step(t[1], t[2]), t[0], {t[3], t[3]},
            {.go_backwards = c.backwards, .mask = c.masked ? t[4] : Tensor(), .unroll = c.unroll});
        return which == 0 ? result.last_output : which == 1 ? result.outputs : result.new_states[1];
      };
    };
    const std::vector<Value> feed{x, w, r, zero, mask};
    SCOPED_TRACE(bits);
    expect_near(run(part(0), feed, c.open), last);
    expect_near(run(part(1), feed, c.open), outputs);
    expect_near(run(part(2), feed, c.open), state);
    // (samples, time, 1) is a mask, too.
    if (c.masked) {
      std::vector<Value> column = feed;
      column[4].dims.push_back(1);
      expect_near(run(part(1), column, false), outputs);
    }
  }
}

TEST(ApiLoops, RnnGradients) {
  const Value x = noise({2, 4, 2}, 4), w = noise({2, 3}, 5), r = noise({3, 3}, 6),
              h = noise({2, 3}, 7);
  const Tensor mask = constant(Array::of<float>({1, 0, 1, 1, 0, 1, 1, 0}, {2, 4}));
  for (int bits = 0; bits < 8; ++bits) {
    SCOPED_TRACE(bits);
    check_gradient(
        [&](const Tensors& t) {
          const RnnResult result = rnn(simple_step(t[1], t[2]), t[0], {t[3], t[3]},
                                       {.go_backwards = (bits & 1) != 0,
                                        .mask = bits & 2 ? mask : Tensor(),
                                        .unroll = (bits & 4) != 0});
          return sum(result.outputs, {.axis = 1}) + result.last_output * result.new_states[1];
        },
        {x, w, r, h});
  }
}

TEST(ApiLoops, RnnShapesConstantsAndNoSteps) {
  const Tensor x = input({None, None, 2}), c = input({None, 2});
  size_t seen = 0;
  const RnnResult r = rnn(
      [&](const Tensor& t, const Tensors& s) {
        seen = s.size();
        const Tensor h = t + s[1];
        return RnnStep{h, {h}};
      },
      x, {c}, {.constants = {c}});
  EXPECT_EQ(seen, 2u);
  EXPECT_EQ(r.last_output.shape(), (Shape{None, 2}));
  EXPECT_EQ(r.outputs.shape(), (Shape{None, None, 2}));
  EXPECT_TRUE(r.last_output.same_as(r.new_states[0]));  // the state holds it: no copy
  const Array none = Array::zeros(DType::float32, {3, 0, 2}),
              start = Array::full(DType::float32, {3, 2}, 7);
  const Arrays got = function({x, c}, {r.outputs, r.new_states[0]})({none, start});
  EXPECT_EQ(got[0].dims(), (Ints{3, 0, 2}));
  EXPECT_EQ(got[1].to_vector<float>(), std::vector<float>(6, 7.0f));

  // No states: every step by itself.
  const RnnStepFunction twice = [](const Tensor& t, const Tensors&) {
    return RnnStep{t * 2.0, {}};
  };
  const RnnResult m = rnn(twice, input({4, 6, 2}), {});
  EXPECT_EQ(m.outputs.shape(), (Shape{4, 6, 2}));
  EXPECT_EQ(m.last_output.shape(), (Shape{4, 2}));
}

TEST(ApiLoops, RnnErrors) {
  const RnnStepFunction twice = [](const Tensor& t, const Tensors&) {
    return RnnStep{t * 2.0, {}};
  };
  EXPECT_EQ(error_of([&] { (void)rnn(twice, input({3, 4}), {}); }),
            "rnn: inputs must have at least 3 dimensions (samples, time, ..); got shape (3, 4).");
  EXPECT_EQ(error_of([&] { (void)rnn(twice, input({3, None, 2}), {}, {.unroll = true}); }),
            "rnn: unroll needs inputs with a fixed number of time steps; got shape (3, None, 2).");
  EXPECT_EQ(error_of([&] { (void)rnn(twice, input({3, 4, 2}), {}, {.mask = input({3, 4})}); }),
            "rnn: a mask needs initial_states; got none.");
  EXPECT_EQ(error_of([&] { (void)rnn(twice, input({3, 4, 2}), {input({3, 2})}); }),
            "rnn: the step function must return 1 states; got 0.");
}

TEST(ApiLoops, MapAndFold) {
  const Value x = noise({4, 3}, 8), y = noise({4, 3}, 9);
  Value sums({4}), products({4, 3}), left({3}), right({3});
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 3; ++j) {
      sums.at({i}) += x.at({i, j});
      products.at({i, j}) = x.at({i, j}) * y.at({i, j});
    }
  for (int64_t j = 0; j < 3; ++j) {
    left.at({j}) = x.at({0, j});
    right.at({j}) = x.at({3, j});
    for (int64_t i = 1; i < 4; ++i) left.at({j}) = left.at({j}) * 0.5 + x.at({i, j});
    for (int64_t i = 2; i >= 0; --i) right.at({j}) = right.at({j}) * 0.5 + x.at({i, j});
  }
  const FoldFunction halve = [](const Tensor& acc, const Tensor& e) { return acc * 0.5 + e; };
  for (bool open : {false, true}) {
    expect_near(
        run([](const Tensors& t) { return map_fn([](const Tensor& e) { return sum(e); }, t[0]); },
            {x}, open),
        sums);
    expect_near(run(
                    [](const Tensors& t) {
                      return map_fn([](const Tensors& e) { return Tensors{e[0] * e[1]}; },
                                    {t[0], t[1]})[0];
                    },
                    {x, y}, open),
                products);
    expect_near(run([&](const Tensors& t) { return foldl(halve, t[0]); }, {x}, open), left);
    expect_near(run([&](const Tensors& t) { return foldr(halve, t[0]); }, {x}, open), right);
  }
  check_gradient([&](const Tensors& t) { return foldl(halve, t[0], {.initializer = t[1]}); },
                 {x, noise({3}, 10)});
  const Tensor counted =
      map_fn([](const Tensor& e) { return sum(e); }, input({None, 3}), {.dtype = DType::int32});
  EXPECT_EQ(counted.dtype(), DType::int32);
  EXPECT_EQ(error_of<TypeError>([&] {
              (void)foldl([](const Tensor& acc, const Tensor&) { return cast(acc, DType::int32); },
                          input({4, 3}));
            }),
            "foldl: fn must keep the dtype of the accumulator, float32; got int32.");
}

/// The gradient's loop needs none of the sequences, yet one of them says how long it is.
TEST(ApiLoops, GradientsOfLoopsOfUnknownLengthThatNeedNoSequence) {
  const Tensor x = placeholder({.shape = {None, 2}});
  const auto last_sign = [](const Tensor&, const Tensor& e) { return sign(e); };
  const Tensors g = gradients(sum(foldl(last_sign, x)), {x});
  const Array zeros = function({x}, g)({Array(DType::float32, {3, 2})})[0];
  EXPECT_EQ(zeros.shape(), Shape({3, 2}));
  EXPECT_EQ(zeros.to_vector<float>(), std::vector<float>(6, 0.0f));

  const Tensor h = placeholder({.shape = {None, 4}}), y = placeholder({.shape = {None, None, 3}});
  const auto pass_on = [](const Tensor&, const Tensors& states) {
    return RnnStep{states[0] * 2.0f, {states[0] * 2.0f}};
  };
  const Tensor last = rnn(pass_on, y, {h}).last_output;
  const Function f = function({y, h}, gradients(sum(last), {h}));
  for (int64_t steps : {1, 3})
    EXPECT_EQ(f({Array(DType::float32, {2, steps, 3}), Array(DType::float32, {2, 4})})[0]
                  .to_vector<float>(),
              std::vector<float>(8, steps == 1 ? 2.0f : 8.0f));
}

TEST(ApiLoops, RandomNumbersDifferFromStepToStep) {
  const Tensor x = input({3, 4, 2}, DType::float64);
  const Tensor y = map_fn(
      [](const Tensor& row) {
        return map_fn(
            [](const Tensor& e) {
              return e + random_uniform({2}, {.dtype = DType::float64, .seed = 1});
            },
            row);
      },
      x);
  const Function f = function({x}, {y});
  const Arrays zeros{Array::zeros(DType::float64, {3, 4, 2})};
  std::vector<double> all = f(zeros)[0].to_vector<double>();
  const std::vector<double> again = f(zeros)[0].to_vector<double>();
  all.insert(all.end(), again.begin(), again.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

/// A tensor of its own that is x and nothing else.
bool is_own_copy(const Tensor& y, const Tensor& x) {
  return y.node()->prim == Prim::after && y.node()->in.size() == 1 && y.node()->in[0].same_as(x);
}

TEST(ApiControl, Switch) {
  const Value a = noise({3, 2}, 11), b = noise({3, 2}, 12);
  const Value rows({3}, std::vector<double>{1, 0, 2}), one({}, 1.0), zero({}, 0.0);
  Value by_rows = b;
  for (int64_t j = 0; j < 2; ++j)
    by_rows.at({0, j}) = a.at({0, j}), by_rows.at({2, j}) = a.at({2, j});
  const Op tensors = [](const Tensors& t) { return switch_(t[0], t[1], t[2]); };
  const Op calls = [](const Tensors& t) {
    return switch_(t[0], [&] { return t[1] * 2.0; }, [&] { return t[2] / t[0]; });
  };
  for (bool open : {false, true}) {
    expect_near(run(tensors, {rows, a, b}, open), by_rows);
    expect_near(run(tensors, {one, a, b}, open), a);
    expect_near(run(tensors, {zero, a, b}, open), b);
  }
  Value doubled = a;
  for (double& v : doubled.data) v *= 2;
  expect_near(run(calls, {one, a, b}), doubled);
  const Tensor t = input({3, 2});
  EXPECT_EQ(switch_(input({}), t, 0.0).shape(), (Shape{3, 2}));
  EXPECT_EQ(
      error_of([&] { (void)switch_(input({3, 2, 1}), t, t); }),
      "switch: condition must not have more dimensions than the expressions; got shapes (3, 2, 1) "
      "and (3, 2).");
  // What is certain is not built.
  int called = 0;
  const auto count = [&](int which) {
    return [&, which] {
      called |= which;
      return t;
    };
  };
  const Tensor certain = switch_(greater(constant(2.0), constant(1.0)), count(1), count(2));
  EXPECT_TRUE(is_own_copy(certain, t));
  EXPECT_EQ(called, 1);
}

TEST(ApiControl, SwitchGradientPicksABranch) {
  const Tensor x = input({}, DType::float64), c = input({}, DType::bool_);
  const Tensor y = switch_(c, [&] { return x * x; }, [&] { return sqrt(x); });
  const Function f = function({x, c}, {gradients(y, {x})[0]});
  EXPECT_DOUBLE_EQ(f({Array(4.0), Array(true)})[0].item<double>(), 8.0);
  EXPECT_DOUBLE_EQ(f({Array(4.0), Array(false)})[0].item<double>(), 0.25);
  EXPECT_DOUBLE_EQ(f({Array(-1.0), Array(true)})[0].item<double>(), -2.0);  // sqrt is not touched
}

TEST(ApiControl, LearningPhase) {
  const Tensor x = input({None, 2});
  const Tensor y = in_train_phase([&] { return x * 2.0; }, x);
  EXPECT_TRUE(y.node()->flags & kUsesLearningPhase);
  const Array one = Array::of<float>({1, 1}, {1, 2});
  EXPECT_EQ(function({x}, {y})({one})[0].to_vector<float>()[0], 1.0f);  // not fed: test
  const Function f = function({x, learning_phase()}, {y});
  EXPECT_EQ(f({one, Array(1)})[0].to_vector<float>()[0], 2.0f);
  EXPECT_EQ(f({one, Array(0)})[0].to_vector<float>()[0], 1.0f);
  EXPECT_TRUE(is_own_copy(in_train_phase(y, x, 1), y));
  EXPECT_TRUE(is_own_copy(in_train_phase(y, x, false), x));
  EXPECT_TRUE(is_own_copy(in_test_phase(y, x, true), x));

  const Tensor flag = learning_phase();
  EXPECT_TRUE(flag.same_as(learning_phase()));
  set_learning_phase(1);
  EXPECT_EQ(fixed_learning_phase(), true);
  EXPECT_TRUE(is_own_copy(in_train_phase(y, x), y));
  EXPECT_EQ(eval(learning_phase()).item<int>(), 1);
  reset_learning_phase();
  EXPECT_FALSE(fixed_learning_phase().has_value());
  EXPECT_EQ(error_of([] { set_learning_phase(2); }),
            "set_learning_phase: value must be 0 or 1; got 2.");
}

TEST(ApiControl, Scopes) {
  {
    const auto outer = name_scope("outer");
    const auto inner = name_scope("inner");
    EXPECT_EQ(inner.prefix(), "outer/inner/");
    EXPECT_EQ(relu(input({2})).name().substr(0, 12), "outer/inner/");
  }
  EXPECT_NE(relu(input({2})).name().substr(0, 5), "outer");
  EXPECT_EQ(error_of<RuntimeError>([] { end_name_scope(); }),
            "name_scope: no scope is open on this thread.");

  const Variable total = variable(Array(1.0f));
  const Tensor add = update_add(total, constant(Array(2.0f)));
  Tensor after;
  {
    const auto scope = control_dependencies({add});
    after = relu(total);
  }
  EXPECT_EQ(eval(after).item<float>(), 3.0f);
  EXPECT_EQ(get_value(total).item<float>(), 3.0f);
}

TEST(ApiControl, GradientOfALoopInsideOfABranch) {
  // The values that the gradient needs are kept by a loop that is not part of the branch.
  const Tensor x = input({3});
  const Tensor y = map_fn([](const Tensor& e) { return tanh(e); }, x);
  const Tensor slope = switch_(
      greater(sum(x), constant(Array(0.0f))), [&] { return gradients(sum(y), {x})[0]; },
      [&] { return x; });
  const Function f = function({x}, {slope, gradients(sum(slope), {x})[0]});
  const std::vector<float> at = {0.3f, 0.5f, 0.2f};
  const Arrays got = f({Array::of(at)});
  for (size_t i = 0; i < at.size(); ++i) {
    const double t = std::tanh(static_cast<double>(at[i]));
    EXPECT_NEAR(got[0].data<float>()[i], 1 - t * t, 1e-6);
    EXPECT_NEAR(got[1].data<float>()[i], -2 * t * (1 - t * t), 1e-6);
  }
  EXPECT_EQ(f({Array::of({-1.f, 0.f, 0.5f})})[0].to_vector<float>(),
            (std::vector<float>{-1, 0, 0.5}));
}

TEST(ApiControl, StopGradientAndPrint) {
  const Tensor x = input({2});
  EXPECT_FALSE(gradients(sum(stop_gradient(x)), {x})[0].defined());
  const Tensors both = stop_gradient(Tensors{x, x});
  EXPECT_EQ(both.size(), 2u);
  EXPECT_EQ(print_tensor(x, "x is:").shape(), (Shape{2}));
}

}  // namespace
}  // namespace horngate
