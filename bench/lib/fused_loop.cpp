// The element-wise workload as one would write it by hand for it alone: one loop that the compiler
// vectorises, a polynomial exp inside of it, and one division for sigmoid and tanh together.
// Compiled with -O3 -ffast-math; the versions for AVX2 and AVX-512 are chosen when it runs.
#include <algorithm>
#include <cmath>

#include "lib/direct.h"
#include "lib/poly_exp.h"

namespace horngate::bench {
namespace {

// sigmoid(z) tanh(v) = (t - 1) / ((1 + s) (t + 1)) for s = exp(-z), t = exp(2 v). Beyond 15 float32
// cannot tell either factor from its limit, and within it exp needs a bound in one place only.
[[gnu::always_inline]] inline void loop(const float* __restrict x, float* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float v = std::min(std::max(x[i], -15.0f), 15.0f);
    const float s = poly_exp(-1.1f * v - 0.3f), t = poly_exp(2.0f * v);
    y[i] = (t - 1.0f) / ((1.0f + s) * (t + 1.0f)) + poly_exp(std::max(-v * v, -87.0f));
  }
}

using Loop = void (*)(const float*, float*, int64_t);

void baseline(const float* x, float* y, int64_t n) { loop(x, y, n); }

#ifdef __x86_64__
[[gnu::target("avx2,fma")]] void avx2(const float* x, float* y, int64_t n) { loop(x, y, n); }
[[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,fma,prefer-vector-width=512")]] void avx512(
    const float* x, float* y, int64_t n) {
  loop(x, y, n);
}
#endif

struct Version {
  Loop loop;
  const char* target;
};

Version pick() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return {avx512, "AVX-512"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {avx2, "AVX2"};
#endif
  return {baseline, "baseline"};
}

const Version& version() {
  static const Version v = pick();
  return v;
}

}  // namespace

const char* fused_loop_target() { return version().target; }

void fused_loop(int64_t n, const float* x, float* y, int threads) {
  const Loop run = version().loop;
  constexpr int64_t kPerThread = 1 << 14;  // less is not worth waking a thread
  if (threads <= 1 || n < 2 * kPerThread) return run(x, y, n);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int part = 0; part < threads; ++part) {
    const int64_t begin = n * part / threads, end = n * (part + 1) / threads;
    run(x + begin, y + begin, end - begin);
  }
}

}  // namespace horngate::bench
