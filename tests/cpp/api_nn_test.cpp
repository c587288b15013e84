// Activations, losses, dropout, bias, normalisation: values against loops, gradients, shapes, error
// texts.
#include "api_values.h"

namespace horngate {
namespace {

using namespace testing_api;

double softplus_of(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// f on every element.
void expect_map(const Op& op, const std::function<double(double)>& f) {
  Value x = noise({3, 4}, 1, -4, 4);
  x.data[0] = 0.0;
  x.data[1] = 60.0;
  x.data[2] = -60.0;
  Value want = x;
  for (double& v : want.data) v = f(v);
  expect_near(run(op, {x}), want);
  expect_near(run(op, {x}, true), want);
  check_gradient(op, {noise({2, 3}, 2, -3, 3)});
}

TEST(ApiNn, Activations) {
  expect_map([](const Tensors& x) { return relu(x[0]); },
             [](double v) { return std::max(v, 0.0); });
  expect_map([](const Tensors& x) { return relu(x[0], {.alpha = 0.2}); },
             [](double v) { return v > 0 ? v : 0.2 * v; });
  expect_map([](const Tensors& x) { return relu(x[0], {.max_value = 2}); },
             [](double v) { return std::min(std::max(v, 0.0), 2.0); });
  expect_map([](const Tensors& x) { return relu(x[0], {.threshold = 1.5}); },
             [](double v) { return v > 1.5 ? v : 0.0; });
  expect_map(
      [](const Tensors& x) { return relu(x[0], {.alpha = 0.5, .max_value = 2, .threshold = 1}); },
      [](double v) { return v > 1 ? std::min(v, 2.0) : 0.5 * (v - 1); });
  expect_map([](const Tensors& x) { return elu(x[0], 0.7); },
             [](double v) { return v > 0 ? v : 0.7 * std::expm1(v); });
  expect_map([](const Tensors& x) { return softplus(x[0]); }, softplus_of);
  expect_map([](const Tensors& x) { return softsign(x[0]); },
             [](double v) { return v / (1 + std::abs(v)); });
  expect_map([](const Tensors& x) { return sigmoid(x[0]); },
             [](double v) { return 1 / (1 + std::exp(-v)); });
  expect_map([](const Tensors& x) { return hard_sigmoid(x[0]); },
             [](double v) { return std::min(std::max(0.2 * v + 0.5, 0.0), 1.0); });
  expect_map([](const Tensors& x) { return tanh(x[0]); }, [](double v) { return std::tanh(v); });
}

TEST(ApiNn, GradientsAtZeroAndFarOut) {
  const auto slope = [](const Op& op, double at) {
    const Tensor x = input({1}, DType::float64);
    const Tensor dx = gradients(op({x}), {x})[0];
    return function({x}, {dx})({Array::of<double>({at})})[0].item<double>();
  };
  EXPECT_EQ(slope([](const Tensors& x) { return relu(x[0]); }, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(slope([](const Tensors& x) { return softplus(x[0]); }, 0.0), 0.5);
  EXPECT_EQ(slope([](const Tensors& x) { return elu(x[0]); }, 1000.0), 1.0);
  EXPECT_DOUBLE_EQ(slope([](const Tensors& x) { return softplus(x[0]); }, 1000.0), 1.0);
}

TEST(ApiNn, NanPassesAndIntegersStay) {
  const double nan = std::nan("");
  const Value x({2}, std::vector<double>{nan, -1.0});
  expect_near(run([](const Tensors& t) { return relu(t[0]); }, {x}), {{2}, {nan, 0.0}});
  expect_near(run([](const Tensors& t) { return relu(t[0], {.threshold = 1}); }, {x}),
              {{2}, {nan, 0.0}});
  EXPECT_EQ(relu(input({3}, DType::int32)).dtype(), DType::int32);
  EXPECT_EQ(relu(input({3}, DType::int32), {.alpha = 0.5}).dtype(), DType::float32);
}

Value softmax_rows(const Value& x) {
  Value y = x;
  for (int64_t i = 0; i < x.dims[0]; ++i) {
    double top = -1e300, total = 0;
    for (int64_t j = 0; j < x.dims[1]; ++j) top = std::max(top, x.at({i, j}));
    for (int64_t j = 0; j < x.dims[1]; ++j) total += std::exp(x.at({i, j}) - top);
    for (int64_t j = 0; j < x.dims[1]; ++j) y.at({i, j}) = std::exp(x.at({i, j}) - top) / total;
  }
  return y;
}

Value transposed(const Value& x) {
  Value y({x.dims[1], x.dims[0]});
  for (int64_t i = 0; i < x.dims[0]; ++i)
    for (int64_t j = 0; j < x.dims[1]; ++j) y.at({j, i}) = x.at({i, j});
  return y;
}

TEST(ApiNn, Softmax) {
  const Value x = noise({3, 5}, 3, -4, 4);
  expect_near(run([](const Tensors& t) { return softmax(t[0]); }, {x}, true), softmax_rows(x));
  expect_near(run([](const Tensors& t) { return softmax(t[0], 0); }, {transposed(x)}),
              transposed(softmax_rows(x)));
  EXPECT_EQ(error_of([] { (void)softmax(input({32, 10}), 2); }),
            "softmax: axis must be in [-2, 2) for x of shape (32, 10); got axis=2.");
}

TEST(ApiNn, CategoricalCrossentropy) {
  const Value logits = noise({3, 4}, 4, -3, 3);
  Value t = softmax_rows(noise({3, 4}, 5)), p = noise({3, 4}, 6, 0.05, 1.0);
  p.at({0, 0}) = 0.0;  // clipped
  Value from_p({3}), from_logits({3});
  const Value s = softmax_rows(logits);
  for (int64_t i = 0; i < 3; ++i) {
    double total = 0;
    for (int64_t j = 0; j < 4; ++j) total += p.at({i, j});
    for (int64_t j = 0; j < 4; ++j) {
      const double q = std::min(std::max(p.at({i, j}) / total, 1e-7), 1 - 1e-7);
      from_p.at({i}) -= t.at({i, j}) * std::log(q);
      from_logits.at({i}) -= t.at({i, j}) * std::log(s.at({i, j}));
    }
  }
  const Op probabilities = [](const Tensors& x) { return categorical_crossentropy(x[0], x[1]); };
  const Op of_logits = [](const Tensors& x) {
    return categorical_crossentropy(x[0], x[1], {.from_logits = true});
  };
  expect_near(run(probabilities, {t, p}, true), from_p);
  expect_near(run(of_logits, {t, logits}, true), from_logits);
  expect_near(
      run([](const Tensors& x) { return categorical_crossentropy(x[0], x[1], {.axis = 0}); },
          {transposed(t), transposed(p)}),
      from_p);
  check_gradient(probabilities, {t, noise({3, 4}, 7, 0.2, 1.0)});
  check_gradient(of_logits, {t, logits});
  EXPECT_EQ(
      error_of([] { (void)categorical_crossentropy(input({2, 3}), input({2, 3}), {.axis = 2}); }),
      "categorical_crossentropy: axis must be in [-2, 2) for output of shape (2, 3); got axis=2.");
}

TEST(ApiNn, SparseCategoricalCrossentropy) {
  const Value p = noise({4, 5}, 8, 0.05, 1.0);
  const Value labels({4}, std::vector<double>{0, 4, 2, 7});
  Value want({4});
  for (int64_t i = 0; i < 4; ++i) {
    double total = 0;
    for (int64_t j = 0; j < 5; ++j) total += p.at({i, j});
    want.at({i}) = i == 3 ? std::nan("") : -std::log(p.at({i, int64_t(labels.data[i])}) / total);
  }
  const Op op = [](const Tensors& x) { return sparse_categorical_crossentropy(x[0], x[1]); };
  expect_near(run(op, {labels, p}), want);
  expect_near(run(op, {labels, p}, true), want);
  expect_near(run(op, {{{4, 1}, labels.data}, p}, true), want);
  expect_near(
      run([](const Tensors& x) { return sparse_categorical_crossentropy(x[0], x[1], {.axis = 0}); },
          {labels, transposed(p)}),
      want);
  check_gradient(
      [&](const Tensors& x) {
        return sparse_categorical_crossentropy(constant(Array::of<int32_t>({1, 0, 3, 2})), x[0],
                                               {.from_logits = true});
      },
      {noise({4, 5}, 9, -2, 2)}, true);
  // (samples, time): the class axis goes.
  EXPECT_EQ(sparse_categorical_crossentropy(input({None, None, 1}), input({None, None, 7})).shape(),
            (Shape{None, None}));
}

TEST(ApiNn, BinaryCrossentropy) {
  const Value t = noise({2, 3}, 10, 0, 1);
  Value p = noise({2, 3}, 11, 0, 1), want(p.dims);
  p.data[0] = 1.0;
  p.data[1] = 0.0;
  const double eps = 1e-7;
  for (size_t i = 0; i < 6; ++i) {
    const double q = std::min(std::max(p.data[i], eps), 1 - eps);
    want.data[i] = -(t.data[i] * std::log(q + eps) + (1 - t.data[i]) * std::log(1 - q + eps));
  }
  const Op op = [](const Tensors& x) { return binary_crossentropy(x[0], x[1]); };
  expect_near(run(op, {t, p}, true), want);
  check_gradient(op, {t, noise({2, 3}, 12, 0.2, 0.8)});

  // Logits far out must not be clipped.
  const Value x({4}, std::vector<double>{100, -100, 0.3, -2}),
      z({4}, std::vector<double>{0, 1, 0.3, 1});
  Value logits_want({4});
  for (size_t i = 0; i < 4; ++i)
    logits_want.data[i] = softplus_of(x.data[i]) - x.data[i] * z.data[i];
  const Op of_logits = [](const Tensors& v) { return binary_crossentropy(v[0], v[1], true); };
  expect_near(run(of_logits, {z, x}), logits_want);
  check_gradient(of_logits, {z, noise({4}, 13, -2, 2)});
}

TEST(ApiNn, Dropout) {
  const Value x({50, 40}, std::vector<double>(2000, 2.0));
  const auto drop = [](ShapeArg noise_shape, std::optional<int64_t> seed) {
    return [=](const Tensors& t) {
      return dropout(t[0], 0.25, {.noise_shape = noise_shape, .seed = seed});
    };
  };
  const Value y = run(drop({}, 3), {x}, true);
  int64_t kept = 0;
  for (double v : y.data) {
    EXPECT_TRUE(v == 0.0 || std::abs(v - 2.0 / 0.75) < 1e-12) << v;
    kept += v != 0.0;
  }
  EXPECT_NEAR(static_cast<double>(kept), 1500.0, 120.0);
  EXPECT_EQ(run(drop({}, 3), {x}).data, y.data);  // the seed alone counts
  EXPECT_NE(run(drop({}, 4), {x}).data, y.data);
  const Value rows = run(drop({None, 1}, 3), {x}, true);
  for (int64_t i = 0; i < 50; ++i)
    for (int64_t j = 1; j < 40; ++j) EXPECT_EQ(rows.at({i, j}), rows.at({i, 0}));
  set_random_seed(5);
  const Value a = run(drop({}, {}), {x}), b = run(drop({}, {}), {x});
  set_random_seed(5);
  EXPECT_EQ(run(drop({}, {}), {x}).data, a.data);
  EXPECT_NE(a.data, b.data);
  EXPECT_TRUE(dropout(input({2}), 0.0).shape() == (Shape{2}));
  EXPECT_EQ(error_of([] { (void)dropout(input({2}), 1.0); }),
            "dropout: level must be in [0, 1); got 1.");
  EXPECT_EQ(error_of([] { (void)dropout(input({2, 3}), 0.5, {.noise_shape = {2, 2}}); }),
            "dropout: noise_shape must have 1, None or the dimension of x of shape (2, 3) on each "
            "axis; got 2 on axis 1.");
}

TEST(ApiNn, L2Normalize) {
  const Value x = noise({2, 3, 2}, 14);
  Value by_axis = x, by_all = x;
  double total = 0;
  for (double v : x.data) total += v * v;
  for (double& v : by_all.data) v /= std::sqrt(total);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t k = 0; k < 2; ++k) {
      double s = 0;
      for (int64_t j = 0; j < 3; ++j) s += x.at({i, j, k}) * x.at({i, j, k});
      for (int64_t j = 0; j < 3; ++j) by_axis.at({i, j, k}) /= std::sqrt(s);
    }
  expect_near(run([](const Tensors& t) { return l2_normalize(t[0]); }, {x}, true), by_all);
  expect_near(run([](const Tensors& t) { return l2_normalize(t[0], 1); }, {x}, true), by_axis);
  check_gradient([](const Tensors& t) { return l2_normalize(t[0], -1); }, {noise({2, 3}, 15)});
  const Value zeros({2, 2}, 0.0);
  expect_near(run([](const Tensors& t) { return l2_normalize(t[0], 1); }, {zeros}), zeros);
}

TEST(ApiNn, InTopK) {
  const Tensor p = input({None, 4}), t = input({None}, DType::int32);
  const Array values = Array::of<float>({.1f, .4f, .3f, .2f, .5f, .2f, .2f, .1f}, {2, 4});
  const auto hits = [&](int64_t k, int32_t a, int32_t b) {
    return function({p, t}, {in_top_k(p, t, k)})({values, Array::of<int32_t>({a, b})})[0]
        .to_vector<float>();
  };
  EXPECT_EQ(hits(1, 1, 0), (std::vector<float>{1, 1}));
  EXPECT_EQ(hits(2, 2, 2), (std::vector<float>{1, 1}));  // equals at the border are in
  EXPECT_EQ(hits(2, 0, 3), (std::vector<float>{0, 0}));
  EXPECT_EQ(hits(0, 1, 0), (std::vector<float>{0, 0}));
  EXPECT_EQ(hits(4, 0, 3), (std::vector<float>{1, 1}));
  EXPECT_EQ(error_of<TypeError>([&] { (void)in_top_k(p, input({None}), 1); }),
            "in_top_k: targets must have an integer dtype; got float32.");
}

TEST(ApiNn, BiasAdd) {
  for (const Ints& dims : {Ints{2, 3}, Ints{2, 4, 3}, Ints{2, 4, 5, 3}, Ints{2, 2, 2, 2, 3}}) {
    const Value x = noise(dims, 16), b = noise({3}, 17);
    Value want = x;
    for (size_t i = 0; i < x.data.size(); ++i) want.data[i] += b.data[i % 3];
    const Op op = [](const Tensors& t) { return bias_add(t[0], t[1], DataFormat::channels_last); };
    expect_near(run(op, {x, b}), want);
    expect_near(run(op, {x, b}, true), want);
  }
  const Value x = noise({2, 3, 4, 2}, 18), b = noise({3}, 19), full = noise({4, 2, 3}, 20);
  Value want = x, want_full = x;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t i = 0; i < 24; ++i) {
      want.data[size_t(n * 24 + i)] += b.data[size_t(i / 8)];
      want_full.data[size_t(n * 24 + i)] += full.data[size_t(i)];  // reshaped, as Keras does
    }
  const Op first = [](const Tensors& t) {
    return bias_add(t[0], t[1], DataFormat::channels_first);
  };
  expect_near(run(first, {x, b}, true), want);
  expect_near(run(first, {x, full}), want_full);
  check_gradient(first, {x, b});
  EXPECT_EQ(
      error_of([] { (void)bias_add(input({2, 3, 4, 5}), input({4, 5})); }),
      "bias_add: bias must have 1 or 3 dimensions for x of shape (2, 3, 4, 5); got shape (4, 5).");
  EXPECT_EQ(error_of([] { (void)bias_add(input({2, 1}), input({4})); }),
            "bias_add: bias of shape (4,) does not fit x of shape (2, 1) (channels_last).");
}

TEST(ApiNn, BatchNormalization) {
  const Value x = noise({3, 4, 2}, 21), mean = noise({4}, 22), var = noise({4}, 23, 0.1, 2),
              beta = noise({4}, 24), gamma = noise({4}, 25);
  Value want = x;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t c = 0; c < 4; ++c)
      for (int64_t j = 0; j < 2; ++j)
        want.at({i, c, j}) =
            (x.at({i, c, j}) - mean.at({c})) / std::sqrt(var.at({c}) + 1e-3) * gamma.at({c}) +
            beta.at({c});
  const Op op = [](const Tensors& t) {
    return batch_normalization(t[0], t[1], t[2], t[3], t[4], {.axis = 1});
  };
  expect_near(run(op, {x, mean, var, beta, gamma}, true), want);
  check_gradient(op, {x, mean, var, beta, gamma});
  const Tensor plain = batch_normalization(input({None, 4}), input({4}), input({4}), {}, {});
  EXPECT_EQ(plain.shape(), (Shape{None, 4}));
}

TEST(ApiNn, NormalizeBatchInTraining) {
  const Value x = noise({3, 4, 2}, 26), gamma = noise({4}, 27), beta = noise({4}, 28);
  Value mean({4}), var({4}), want = x;
  for (int64_t c = 0; c < 4; ++c) {
    for (int64_t i = 0; i < 6; ++i) mean.at({c}) += x.at({i / 2, c, i % 2}) / 6;
    for (int64_t i = 0; i < 6; ++i)
      var.at({c}) += std::pow(x.at({i / 2, c, i % 2}) - mean.at({c}), 2) / 6;
    for (int64_t i = 0; i < 6; ++i)
      want.at({i / 2, c, i % 2}) =
          (x.at({i / 2, c, i % 2}) - mean.at({c})) / std::sqrt(var.at({c}) + 1e-3) * gamma.at({c}) +
          beta.at({c});
  }
  const auto part = [](Tensor NormalizedBatch::* which) {
    return [=](const Tensors& t) {
      return normalize_batch_in_training(t[0], t[1], t[2], {0, 2}).*which;
    };
  };
  for (bool open : {false, true}) {
    expect_near(run(part(&NormalizedBatch::normalized), {x, gamma, beta}, open), want);
    expect_near(
        run([](const Tensors& t) { return normalize_batch_in_training(t[0], {}, {}, {0, 2}).mean; },
            {x}, open),
        mean);
    expect_near(run(
                    [](const Tensors& t) {
                      return normalize_batch_in_training(t[0], {}, {}, {0, 2}).variance;
                    },
                    {x}, open),
                var);
  }
  check_gradient(part(&NormalizedBatch::normalized), {x, gamma, beta});
  check_gradient(
      [](const Tensors& t) { return normalize_batch_in_training(t[0], {}, {}, {0}).variance; },
      {noise({4, 3}, 29)});
}

}  // namespace
}  // namespace horngate
