// What startup.py measures from outside: a process that trains the MLP of workloads.md for one step (bench_startup
// step), or how long a call of x + 1 takes (bench_startup call, prints microseconds).
#include <horngate/horngate.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace K = horngate;

namespace {

/// Numbers that are cheap to make: what is measured is the library.
K::Array uniform(uint32_t& state, K::Ints dims, float limit) {
  K::Array a(K::DType::float32, dims);
  float* to = a.data<float>();
  for (int64_t i = 0, n = a.size(); i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    to[i] = (static_cast<float>(state >> 8) / 8388608.0f - 1) * limit;
  }
  return a;
}

double train_once() {
  uint32_t random = 1;
  const K::Tensor x = K::placeholder({.shape = {K::None, 784}});
  const K::Tensor labels = K::placeholder({.shape = {K::None}, .dtype = K::DType::int32});
  std::vector<K::Variable> weights;
  const auto dense = [&](const K::Tensor& in, int64_t from, int64_t to) {
    const float limit = std::sqrt(6.0f / static_cast<float>(from + to));
    weights.push_back(K::variable(uniform(random, {from, to}, limit)));
    weights.push_back(K::variable(K::Array::zeros(K::DType::float32, {to})));
    return K::bias_add(K::dot(in, weights[weights.size() - 2]), weights.back());
  };
  const K::Tensor logits = dense(K::relu(dense(K::relu(dense(x, 784, 512)), 512, 512)), 512, 10);
  const K::Tensor loss =
      K::mean(K::sparse_categorical_crossentropy(labels, logits, {.from_logits = true}));
  const K::Tensors grads =
      K::gradients(loss, std::vector<K::Tensor>(weights.begin(), weights.end()));
  std::vector<K::Update> updates;
  for (size_t i = 0; i < weights.size(); ++i)
    updates.push_back(K::update_sub(weights[i], 0.01 * grads[i]));
  K::Function train = K::function({x, labels}, {loss}, {.updates = updates});
  K::Array digits = K::Array::zeros(K::DType::int32, {128});
  for (int32_t i = 0; i < 128; ++i) digits.data<int32_t>()[i] = i % 10;
  return train({uniform(random, {128, 784}, 1), digits})[0].item<double>();
}

/// The shortest of many groups of calls.
double call_microseconds() {
  using Clock = std::chrono::steady_clock;
  const K::Tensor x = K::placeholder({.shape = {K::None}});
  K::Function f = K::function({x}, {x + 1.0});
  const K::Array one = K::Array::zeros(K::DType::float32, {1});
  constexpr int kCalls = 1000;
  double best = 1e9;
  for (int group = 0; group < 300; ++group) {
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) (void)f({one});
    const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
    best = std::min(best, spent.count() / kCalls);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "step";
  if (what == "call")
    std::printf("%.3f\n", call_microseconds());
  else
    std::printf("%.4f\n", train_once());
  return 0;
}
