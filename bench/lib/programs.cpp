// Compiled with -O3 -ffast-math, as lib/fused_loop.cpp: what the compiler makes of a plain loop with
// a polynomial exp. The versions for AVX2 and AVX-512 are chosen when it runs.
#include "lib/programs.h"

#include <algorithm>
#include <cmath>

#include "lib/poly_exp.h"

namespace horngate::bench {
namespace {

#define INLINE [[gnu::always_inline]] inline

INLINE float limit(float x, float bound) { return std::min(std::max(x, -bound), bound); }
INLINE float sigmoid(float x) { return 1.0f / (1.0f + poly_exp(-limit(x, 87.0f))); }
INLINE float tanh(float x) {
  const float t = poly_exp(2.0f * limit(x, 15.0f));
  return (t - 1.0f) / (t + 1.0f);
}

struct Gate {
  INLINE static void run(const LoopCall& k) {
    const float* __restrict x = k.in[0];
    float* __restrict y = k.out[0];
#pragma GCC ivdep
    for (int64_t i = 0; i < k.rows * k.cols; ++i) {
      const float v = limit(x[i], 15.0f);
      const float s = poly_exp(-1.1f * v - 0.3f), t = poly_exp(2.0f * v);
      y[i] = (t - 1.0f) / ((1.0f + s) * (t + 1.0f)) + poly_exp(std::max(-v * v, -87.0f));
    }
  }
};

constexpr float kRoot = 0.797884561f, kCube = 0.044715f;

struct Gelu {
  INLINE static void run(const LoopCall& k) {
    const float* __restrict x = k.in[0];
    float* __restrict y = k.out[0];
#pragma GCC ivdep
    for (int64_t i = 0; i < k.rows * k.cols; ++i)
      y[i] = 0.5f * x[i] * (1.0f + tanh(kRoot * (x[i] + kCube * x[i] * x[i] * x[i])));
  }
};

struct GeluGrad {
  INLINE static void run(const LoopCall& k) {
    const float* __restrict x = k.in[0];
    const float* __restrict dy = k.in[1];
    float* __restrict dx = k.out[0];
#pragma GCC ivdep
    for (int64_t i = 0; i < k.rows * k.cols; ++i) {
      const float t = tanh(kRoot * (x[i] + kCube * x[i] * x[i] * x[i]));
      const float slope = kRoot * (1.0f + 3.0f * kCube * x[i] * x[i]);
      dx[i] = dy[i] * 0.5f * (1.0f + t + x[i] * (1.0f - t * t) * slope);
    }
  }
};

struct Adam {
  INLINE static void run(const LoopCall& k) {
    const float* __restrict p = k.in[0];
    const float* __restrict m = k.in[1];
    const float* __restrict v = k.in[2];
    const float* __restrict g = k.in[3];
    float* __restrict new_p = k.out[0];
    float* __restrict new_m = k.out[1];
    float* __restrict new_v = k.out[2];
#pragma GCC ivdep
    for (int64_t i = 0; i < k.rows * k.cols; ++i) {
      const float a = 0.9f * m[i] + 0.1f * g[i], b = 0.999f * v[i] + 0.001f * g[i] * g[i];
      new_m[i] = a;
      new_v[i] = b;
      new_p[i] = p[i] - 1e-3f * a / (std::sqrt(b) + 1e-7f);
    }
  }
};

struct Lstm {
  INLINE static void run(const LoopCall& k) {
    const float* __restrict in = k.in[0];
    const float* __restrict forget = k.in[1];
    const float* __restrict out = k.in[2];
    const float* __restrict g = k.in[3];
    const float* __restrict c = k.in[4];
    float* __restrict new_c = k.out[0];
    float* __restrict h = k.out[1];
#pragma GCC ivdep
    for (int64_t i = 0; i < k.rows * k.cols; ++i) {
      const float cell = sigmoid(forget[i]) * c[i] + sigmoid(in[i]) * tanh(g[i]);
      new_c[i] = cell;
      h[i] = sigmoid(out[i]) * tanh(cell);
    }
  }
};

struct Normalise {
  INLINE static void run(const LoopCall& k) {
    const float* __restrict gamma = k.in[3];
    const float* __restrict beta = k.in[4];
    for (int64_t r = 0; r < k.rows; ++r) {
      const float* __restrict x = k.in[0] + r * k.cols;
      float* __restrict y = k.out[0] + r * k.cols;
      const float mean = k.in[1][r], rstd = k.in[2][r];
      for (int64_t i = 0; i < k.cols; ++i) y[i] = (x[i] - mean) * rstd * gamma[i] + beta[i];
    }
  }
};

struct SwishGrad {
  INLINE static void run(const LoopCall& k) {
    const float* __restrict x = k.in[0];
    const float* __restrict dy = k.in[1];
    float* __restrict dx = k.out[0];
#pragma GCC ivdep
    for (int64_t i = 0; i < k.rows * k.cols; ++i) {
      const float s = sigmoid(x[i]);
      dx[i] = dy[i] * s * (1.0f + x[i] * (1.0f - s));
    }
  }
};

template <class F>
struct Versions {
  static void baseline(const LoopCall& k) { F::run(k); }
#ifdef __x86_64__
  [[gnu::target("avx2,fma")]] static void avx2(const LoopCall& k) { F::run(k); }
  [[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,fma,prefer-vector-width=512")]] static void
  avx512(const LoopCall& k) {
    F::run(k);
  }
#endif
  static void run(const LoopCall& k) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return avx512(k);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2(k);
#endif
    baseline(k);
  }
};

}  // namespace

void gate_loop(const LoopCall& k) { Versions<Gate>::run(k); }
void gelu_loop(const LoopCall& k) { Versions<Gelu>::run(k); }
void gelu_grad_loop(const LoopCall& k) { Versions<GeluGrad>::run(k); }
void adam_loop(const LoopCall& k) { Versions<Adam>::run(k); }
void lstm_loop(const LoopCall& k) { Versions<Lstm>::run(k); }
void normalise_loop(const LoopCall& k) { Versions<Normalise>::run(k); }
void swish_grad_loop(const LoopCall& k) { Versions<SwishGrad>::run(k); }

}  // namespace horngate::bench
