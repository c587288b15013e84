// What fit and predict cost beside the functions that they call: a small net, where it would show. Both take turns; the
// fastest round of each counts. bench_models [rounds]
#include <horngate/keras.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace K = horngate;
namespace keras = horngate::keras;

namespace {

using Clock = std::chrono::steady_clock;

template <class F>
double microseconds(const F& f, int64_t times) {
  const Clock::time_point begin = Clock::now();
  f();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() /
         static_cast<double>(times);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 30;
  constexpr int64_t kBatch = 32, kBatches = 500, kSamples = kBatch * kBatches;
  const K::Array x = K::eval(K::random_uniform({kSamples, 16})),
                 y = K::eval(K::random_uniform({kSamples, 1}));
  keras::Sequential net(
      {keras::Dense(16, {.activation = "relu", .input_shape = {16}}), keras::Dense(1)});
  net.compile({.optimizer = "sgd", .loss = "mse"});

  // The same step by hand, on weights of its own.
  const K::Tensor in = K::placeholder({.shape = {K::None, 16}}),
                  target = K::placeholder({.shape = {K::None, 1}});
  std::vector<K::Variable> w;
  for (const keras::Weight& weight : net.weights())
    w.push_back(K::variable(K::get_value(weight.variable)));
  const K::Tensor out = K::dot(K::relu(K::dot(in, w[0]) + w[1]), w[2]) + w[3];
  const K::Tensor loss = K::mean(K::square(out - target));
  std::vector<K::Update> updates;
  const K::Tensors grads = K::gradients(loss, {w.begin(), w.end()});
  for (size_t i = 0; i < w.size(); ++i) updates.push_back(K::update_sub(w[i], 0.01 * grads[i]));
  const K::Function step = K::function({in, target}, {loss}, updates),
                    bare = K::function({in}, {out});

  const auto by_hand = [&] {
    for (int64_t i = 0; i < kBatches; ++i)
      (void)step({x.rows(i * kBatch, (i + 1) * kBatch), y.rows(i * kBatch, (i + 1) * kBatch)})[0]
          .item<float>();
  };
  const auto fit = [&] {
    (void)net.fit(x, y, {.batch_size = kBatch, .verbose = 0, .shuffle = false});
  };
  const K::Array one = x.rows(0, 1);
  const auto call = [&] {
    for (int64_t i = 0; i < kBatches; ++i) (void)bare({one});
  };
  const auto predict = [&] {
    for (int64_t i = 0; i < kBatches; ++i) (void)net.predict(one);
  };
  double best[4] = {1e9, 1e9, 1e9, 1e9};
  for (int r = 0; r < rounds; ++r) {
    best[0] = std::min(best[0], microseconds(by_hand, kBatches));
    best[1] = std::min(best[1], microseconds(fit, kBatches));
    best[2] = std::min(best[2], microseconds(call, kBatches));
    best[3] = std::min(best[3], microseconds(predict, kBatches));
  }
  std::printf("a batch of 32: by hand %.2f us, fit %.2f us, %.2f us more\n", best[0], best[1],
              best[1] - best[0]);
  std::printf("one sample: function %.2f us, predict %.2f us, %.2f us more\n", best[2], best[3],
              best[3] - best[2]);
}
