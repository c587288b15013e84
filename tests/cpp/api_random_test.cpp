// Random tensors and variables, CTC.
#include "api_values.h"

namespace horngate {
namespace {

using namespace testing_api;

struct Moments {
  double mean = 0, deviation = 0, low = 1e300, high = -1e300;
};
Moments moments_of(const Array& a) {
  Moments m;
  const std::vector<double> v = a.to_vector<double>();
  for (double x : v)
    m.mean += x / static_cast<double>(v.size()), m.low = std::min(m.low, x),
                                                 m.high = std::max(m.high, x);
  for (double x : v) m.deviation += (x - m.mean) * (x - m.mean) / static_cast<double>(v.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}

TEST(ApiRandom, Laws) {
  const ShapeArg shape{200, 100};
  const Moments normal =
      moments_of(eval(random_normal(shape, {.mean = 2, .stddev = 3, .seed = 1})));
  EXPECT_NEAR(normal.mean, 2, 0.1);
  EXPECT_NEAR(normal.deviation, 3, 0.1);
  const Moments cut =
      moments_of(eval(truncated_normal(shape, {.mean = 2, .stddev = 3, .seed = 1})));
  EXPECT_GE(cut.low, -4.0);
  EXPECT_LE(cut.high, 8.0);
  EXPECT_NEAR(cut.mean, 2, 0.1);
  EXPECT_NEAR(cut.deviation, 3 * 0.8796, 0.1);
  const Moments uniform =
      moments_of(eval(random_uniform(shape, {.minval = 1, .maxval = 3, .seed = 1})));
  EXPECT_GE(uniform.low, 1.0);
  EXPECT_LT(uniform.high, 3.0);
  EXPECT_NEAR(uniform.mean, 2, 0.05);
  const Moments coin = moments_of(eval(random_binomial(shape, {.p = 0.3, .seed = 1})));
  EXPECT_NEAR(coin.mean, 0.3, 0.02);
  EXPECT_EQ(coin.high, 1.0);
  const Array dice =
      eval(random_uniform(shape, {.minval = 1, .maxval = 7, .dtype = DType::int32, .seed = 1}));
  EXPECT_EQ(dice.dtype(), DType::int32);
  EXPECT_EQ(moments_of(dice).low, 1.0);
  EXPECT_EQ(moments_of(dice).high, 6.0);
}

TEST(ApiRandom, SeedsAndShapes) {
  const auto numbers = [](std::optional<int64_t> seed) {
    return eval(random_normal({8}, {.seed = seed})).to_vector<float>();
  };
  EXPECT_EQ(numbers(1), numbers(1));
  EXPECT_NE(numbers(1), numbers(2));
  EXPECT_NE(numbers({}), numbers({}));
  set_random_seed(3);
  const auto first = numbers({});
  set_random_seed(3);
  EXPECT_EQ(numbers({}), first);
  const Function f = function({}, {random_normal({8}, {.seed = 1})});
  EXPECT_NE(f()[0].to_vector<float>(), f()[0].to_vector<float>());  // new ones at each call

  const Tensor x = input({None, 3});
  const Tensor y = random_uniform(shape(x), {.seed = 1});
  EXPECT_EQ(y.shape(), (Shape{None, 3}));
  EXPECT_EQ(function({x}, {y})({Array::zeros(DType::float32, {4, 3})})[0].dims(), (Ints{4, 3}));
  EXPECT_EQ(eval(random_normal({})).dims(), Ints{});
  EXPECT_EQ(random_normal({2}, {.dtype = DType::float64}).dtype(), DType::float64);
  EXPECT_EQ(error_of<TypeError>([] { (void)random_normal({2}, {.dtype = DType::int32}); }),
            "random_normal: dtype must be a float type; got int32.");
  EXPECT_EQ(error_of([] { (void)random_binomial({2}, {.p = 1.5}); }),
            "random_binomial: p must be in [0, 1]; got 1.5.");
}

TEST(ApiRandom, Variables) {
  const Variable u = random_uniform_variable({30, 20}, -1, 1, {.name = "u", .seed = 4});
  EXPECT_EQ(u.shape(), (Shape{30, 20}));
  const Array once = get_value(u);
  EXPECT_EQ(once.to_vector<float>(), get_value(u).to_vector<float>());  // drawn once
  EXPECT_NEAR(moments_of(once).mean, 0, 0.1);
  const Variable n = random_normal_variable({30, 20}, 5, 2, {.dtype = DType::float64});
  EXPECT_EQ(n.dtype(), DType::float64);
  EXPECT_NEAR(moments_of(get_value(n)).mean, 5, 0.4);
}

/// The two samples of Keras' own test: 5 steps, 6 categories.
Value ctc_example() {
  return {
      {2, 5, 6},
      {0.633766,   0.221185,  0.0917319,  0.0129757,  0.0142857,  0.0260553,  0.111121,  0.588392,
       0.278779,   0.0055756, 0.00569609, 0.010436,   0.0357786,  0.633813,   0.321418,  0.00249248,
       0.00272882, 0.0037688, 0.0663296,  0.643849,   0.280111,   0.00283995, 0.0035545, 0.00331533,
       0.458235,   0.396634,  0.123377,   0.00648837, 0.00903441, 0.00623107, 0.30176,   0.28562,
       0.0831517,  0.0862751, 0.0816851,  0.161508,   0.24082,    0.397533,   0.0557226, 0.0546814,
       0.0557528,  0.19549,   0.230246,   0.450868,   0.0389607,  0.038309,   0.0391602, 0.202456,
       0.280884,   0.429522,  0.0326593,  0.0339046,  0.0326856,  0.190345,   0.423286,  0.315517,
       0.0338439,  0.0393744, 0.0339315,  0.154046}};
}

TEST(ApiCtc, BatchCost) {
  const Value labels({2, 5}, std::vector<double>{0, 1, 2, 1, 0, 0, 1, 1, 0, -1});
  const Value inputs({2, 1}, std::vector<double>{5, 5}), lengths({2, 1}, std::vector<double>{5, 4});
  const Op op = [](const Tensors& t) { return ctc_batch_cost(t[0], t[1], t[2], t[3]); };
  const Value want({2, 1}, std::vector<double>{3.34211, 5.42262});
  expect_near(run(op, {labels, ctc_example(), inputs, lengths}), want, 1e-5);
  expect_near(run(op, {labels, ctc_example(), inputs, lengths}, true), want, 1e-5);
  check_gradient(
      [&](const Tensors& t) {
        return ctc_batch_cost(constant(labels.array()), t[0], constant(inputs.array()),
                              constant(lengths.array()));
      },
      {ctc_example()});
  EXPECT_EQ(error_of([] {
              (void)ctc_batch_cost(input({2, 5}), input({2, 6}), input({2, 1}), input({2, 1}));
            }),
            "ctc_batch_cost: y_pred must have 3 dimensions (samples, time, categories); got shape "
            "(2, 6).");
}

TEST(ApiCtc, Decode) {
  // Best categories 0 1 1 blank 1 | 2 2 blank blank 0; blank is 3.
  const int best[2][5] = {{0, 1, 1, 3, 1}, {2, 2, 3, 3, 0}};
  Value p({2, 5, 4}, 0.1);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t t = 0; t < 5; ++t) p.at({b, t, best[b][t]}) = 0.7;
  const Tensor x = input({None, None, 4}, DType::float64), n = input({None}, DType::int32);
  const CtcDecoded greedy = ctc_decode(x, n);
  const Function f = function({x, n}, {greedy.decoded[0], greedy.log_probability});
  const Arrays full = f({p.array(), Array::of<int32_t>({5, 5})});
  EXPECT_EQ(full[0].dims(), (Ints{2, 3}));
  EXPECT_EQ(full[0].to_vector<double>(), (std::vector<double>{0, 1, 1, 2, 0, -1}));
  expect_near(value_of(full[1]), Value({2, 1}, -5 * std::log(0.7 + 1e-7)), 1e-9);
  const Arrays part = f({p.array(), Array::of<int32_t>({2, 3})});
  EXPECT_EQ(part[0].to_vector<double>(), (std::vector<double>{0, 1, 2, -1}));

  const CtcDecoded beam = ctc_decode(x, n, {.greedy = false, .beam_width = 10, .top_paths = 2});
  const Arrays paths = function({x, n}, {beam.decoded[0], beam.decoded[1], beam.log_probability})(
      {p.array(), Array::of<int32_t>({5, 5})});
  EXPECT_EQ(paths[0].to_vector<double>(), (std::vector<double>{0, 1, 1, 2, 0, -1}));
  EXPECT_EQ(paths[2].dims(), (Ints{2, 2}));
  EXPECT_EQ(
      error_of([&] { (void)ctc_decode(x, n, {.greedy = false, .beam_width = 1, .top_paths = 2}); }),
      "ctc_decode: top_paths must be in [1, 1], the beam_width; got 2.");
}

}  // namespace
}  // namespace horngate
