// What this machine can do at most: a loop of multiply-adds in registers, and a copy of large arrays.
#include "limits.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace horngate::cli {
namespace {

using Lanes16 = float __attribute__((vector_size(64)));
using Lanes8 = float __attribute__((vector_size(32)));
using Lanes4 = float __attribute__((vector_size(16)));

/// Twelve chains, so that none waits for its previous result. The sum is returned so that the loop is not
/// optimized away.
template <class Lanes>
[[gnu::always_inline]] inline float multiply_add(int64_t turns, float start) {
  Lanes a[12], x = Lanes{} + start, y = Lanes{} + 1e-3f;
  for (Lanes& v : a) v = x;
  for (int64_t i = 0; i < turns; ++i)
    for (Lanes& v : a) v = v * x + y;
  float sum = 0;
  for (const Lanes& v : a) sum += v[0];
  return sum;
}

[[gnu::target("avx512f"), gnu::optimize("O3")]] float loop16(int64_t turns, float start) {
  return multiply_add<Lanes16>(turns, start);
}
[[gnu::target("avx2,fma"), gnu::optimize("O3")]] float loop8(int64_t turns, float start) {
  return multiply_add<Lanes8>(turns, start);
}
[[gnu::optimize("O3")]] float loop4(int64_t turns, float start) {
  return multiply_add<Lanes4>(turns, start);
}

/// Shortest time of several rounds, in seconds.
template <class F>
double fastest(int times, F&& f) {
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

template <class F>
void on_threads(int n, F&& f) {
  std::vector<std::thread> others;
  for (int i = 1; i < n; ++i) others.emplace_back(f, i);
  f(0);
  for (std::thread& t : others) t.join();
}

}  // namespace

Limits measure_limits(int threads) {
  const bool has16 = __builtin_cpu_supports("avx512f");
  const bool has8 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const auto loop = has16 ? loop16 : has8 ? loop8 : loop4;
  const double lanes = has16 ? 16 : has8 ? 8 : 4;
  constexpr int64_t kTurns = 1'000'000;
  volatile float sink = 0;
  const double t = fastest(8, [&] {
    on_threads(threads, [&](int i) { sink = loop(kTurns, 0.5f + 0.01f * static_cast<float>(i)); });
  });
  Limits limits;
  limits.flops = 2 * 12 * lanes * kTurns * threads / t;
  constexpr size_t kBytes = size_t{64} << 20;
  std::unique_ptr<std::byte[]> from(new std::byte[kBytes]()), to(new std::byte[kBytes]());
  const size_t part = kBytes / static_cast<size_t>(threads);
  const double c = fastest(6, [&] {
    on_threads(threads, [&](int i) {
      const size_t at = part * static_cast<size_t>(i);
      std::memcpy(to.get() + at, from.get() + at, part);
    });
  });
  limits.bandwidth = 2.0 * static_cast<double>(part) * threads / c;
  return limits;
}

}  // namespace horngate::cli
