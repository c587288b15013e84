// The digit net of the demo: its gradients in float64 against finite differences, and that it learns.
#include "../../examples/digits_net.h"
#include "engines/native/derived.h"

#include "finite_differences.h"

namespace horngate {
namespace {

struct Sample {
  Array images, labels;
};

Sample make_sample(DType dtype, int64_t n, uint64_t seed) {
  Array labels = Array::zeros(DType::float64, {n, 10});
  for (int64_t i = 0; i < n; ++i) labels.data<double>()[i * 10 + (i * 7) % 10] = 1.0;
  return {testing::random_array({n, 8, 8, 1}, seed, 0.0, 1.0).cast(dtype), labels.cast(dtype)};
}

TEST(DigitNet, GradientsAgreeWithFiniteDifferences) {
  const digits::Net net = digits::make_net(DType::float64);
  const Tensors grads =
      gradients(net.loss, std::vector<Tensor>(net.weights.begin(), net.weights.end()));
  const Function exact = function({net.images, net.labels}, grads);
  const Function loss = function({net.images, net.labels}, {net.loss});
  const Sample s = make_sample(DType::float64, 5, 3);
  const Arrays g = exact({s.images, s.labels});
  std::mt19937_64 random(5);
  for (size_t k = 0; k < net.weights.size(); ++k) {
    const Array start = get_value(net.weights[k]);
    for (int probe = 0; probe < 10; ++probe) {
      const auto i = static_cast<int64_t>(random() % static_cast<uint64_t>(start.size()));
      const auto at = [&](double delta) {
        Array moved = start.copy();
        moved.data<double>()[i] += delta;
        set_value(net.weights[k], moved);
        return loss({s.images, s.labels})[0].item<double>();
      };
      const double difference = (at(1e-6) - at(-1e-6)) / 2e-6;
      EXPECT_NEAR(g[k].data<double>()[i], difference, 1e-6)
          << net.weights[k].name() << " element " << i;
    }
    set_value(net.weights[k], start);
  }
}

TEST(DigitNet, AdamEqualsALoopInPlainCpp) {
  // One weight matrix, loss = sum((w - 3)^2): ten steps of Adam, by the K functions and by hand.
  const Variable w = variable(testing::random_array({3, 4}, 1));
  const Function step = function({}, {}, digits::adam(sum(square(w - 3.0)), {w}, 0.01));
  std::vector<double> x = get_value(w).to_vector<double>(), m(12, 0.0), v(12, 0.0);
  for (int t = 1; t <= 10; ++t) {
    (void)step();
    const double rate = 0.01 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t));
    for (size_t i = 0; i < x.size(); ++i) {
      const double g = 2 * (x[i] - 3.0);
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      x[i] -= rate * m[i] / (std::sqrt(v[i]) + 1e-8);
    }
  }
  const std::vector<double> got = get_value(w).to_vector<double>();
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(got[i], x[i], 1e-12);
}

TEST(DigitNet, TrainsAndPredictionsFollowTheWeights) {
  const digits::Net net = digits::make_net(DType::float32);
  const Function step =
      function({net.images, net.labels}, {net.loss}, digits::adam(net.loss, net.weights, 5e-3));
  const Function predict = function({net.images}, {net.probabilities});
  const Sample s = make_sample(DType::float32, 32, 3);
  const double first = step({s.images, s.labels})[0].item<double>();
  double last = first;
  for (int i = 0; i < 60; ++i) last = step({s.images, s.labels})[0].item<double>();
  EXPECT_LT(last, 0.5 * first);
  // predict, set_value, predict, train, predict: each equals a fresh function's answer.
  const auto expect_fresh = [&] {
    const Function fresh = function({net.images}, {net.probabilities});
    EXPECT_EQ(predict({s.images})[0].to_vector<float>(), fresh({s.images})[0].to_vector<float>());
  };
  expect_fresh();
  // Packed weights are kept, not made again.
  const size_t held = native::derived_bytes_held();
  EXPECT_GT(held, 0u);
  for (int i = 0; i < 5; ++i) expect_fresh();
  EXPECT_EQ(native::derived_bytes_held(), held);
  set_value(net.weights[0], testing::random_array({3, 3, 1, 16}, 9));
  expect_fresh();
  (void)step({s.images, s.labels});
  expect_fresh();
}

}  // namespace
}  // namespace horngate
