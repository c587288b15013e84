// SIMD loops of batch normalisation.
#include "engines/native/fused/targets.h"  // before Highway
#include "engines/native/kernels/norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/kernels/norm_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace horngate::native {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(d, std::integral_constant<int, vectors>, column): four vectors at a time, then one, then
/// single lanes.
template <class T, class F>
HWY_INLINE void ForColumns(int64_t width, F&& f) {
  const hn::ScalableTag<T> full;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(full));
  int64_t c = 0;
  for (; c + 4 * lanes <= width; c += 4 * lanes) f(full, std::integral_constant<int, 4>(), c);
  for (; c + lanes <= width; c += lanes) f(full, std::integral_constant<int, 1>(), c);
  for (; c < width; ++c) f(one, std::integral_constant<int, 1>(), c);
}

/// Sums of v(element index, vector) over all elements of a block that is one channel.
template <class T, class F>
HWY_INLINE T SumAll(const NormBlock& k, F&& v) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  auto tail = hn::Zero(one);
  for (int64_t r = 0; r < k.rows; ++r) {
    const int64_t end = r * k.stride + k.width;
    int64_t i = r * k.stride;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      s0 = hn::Add(s0, v(d, i));
      s1 = hn::Add(s1, v(d, i + lanes));
      s2 = hn::Add(s2, v(d, i + 2 * lanes));
      s3 = hn::Add(s3, v(d, i + 3 * lanes));
    }
    for (; i + lanes <= end; i += lanes) s0 = hn::Add(s0, v(d, i));
    for (; i < end; ++i) tail = hn::Add(tail, v(one, i));
  }
  const auto all = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  return hn::GetLane(hn::SumOfLanes(d, all)) + hn::GetLane(tail);
}

// Two sweeps; in the second the data is in the cache. The mean of the rest corrects the rounding of
// the first: with e = mean(x - m), the mean is m + e (not rounded to one number: blocks are joined by
// the distances of their means) and the squares are sum((x - m)^2) - n e^2.
template <class T>
void MomentsOfAll(const NormBlock& k, const T* x, T* mean, T* rest, T* squares) {
  const T n = static_cast<T>(k.rows * k.width);
  const T m = SumAll<T>(k, [x](auto d, int64_t i) { return hn::LoadU(d, x + i); }) / n;
  const auto centered = [x, m](auto d, int64_t i) {
    return hn::Sub(hn::LoadU(d, x + i), hn::Set(d, m));
  };
  const T e = SumAll<T>(k, centered) / n;
  *squares = SumAll<T>(k,
                       [&](auto d, int64_t i) {
                         const auto v = centered(d, i);
                         return hn::Mul(v, v);
                       }) -
             n * e * e;
  *mean = m;
  *rest = e;
}

template <class T>
void MomentsOfColumns(const NormBlock& k, const T* x, T* mean, T* rest, T* squares) {
  ForColumns<T>(k.width, [&](auto d, auto vectors, int64_t c) {
    constexpr int kVectors = decltype(vectors)::value;
    using V = hn::Vec<decltype(d)>;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const V n = hn::Set(d, static_cast<T>(k.rows)), zero = hn::Zero(d);
    V m[kVectors], left[kVectors], sq[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) m[v] = left[v] = sq[v] = zero;
    for (int64_t r = 0; r < k.rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        m[v] = hn::Add(m[v], hn::LoadU(d, x + r * k.stride + c + v * lanes));
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) m[v] = hn::Div(m[v], n);
    for (int64_t r = 0; r < k.rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const V e = hn::Sub(hn::LoadU(d, x + r * k.stride + c + v * lanes), m[v]);
        left[v] = hn::Add(left[v], e);
        sq[v] = hn::MulAdd(e, e, sq[v]);
      }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const V e = hn::Div(left[v], n);
      hn::StoreU(m[v], d, mean + c + v * lanes);
      hn::StoreU(e, d, rest + c + v * lanes);
      hn::StoreU(hn::NegMulAdd(e, left[v], sq[v]), d, squares + c + v * lanes);
    }
  });
}

template <class T>
void SumsOfAll(const NormBlock& k, const T* x, const T* dy, T mean, T* sum, T* product) {
  *sum = SumAll<T>(k, [dy](auto d, int64_t i) { return hn::LoadU(d, dy + i); });
  *product = SumAll<T>(k, [=](auto d, int64_t i) {
    return hn::Mul(hn::LoadU(d, dy + i), hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean)));
  });
}

template <class T>
void SumsOfColumns(const NormBlock& k, const T* x, const T* dy, const T* mean, T* sum, T* product) {
  ForColumns<T>(k.width, [&](auto d, auto vectors, int64_t c) {
    constexpr int kVectors = decltype(vectors)::value;
    using V = hn::Vec<decltype(d)>;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    V m[kVectors], s[kVectors], p[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      m[v] = hn::LoadU(d, mean + c + v * lanes);
      s[v] = p[v] = hn::Zero(d);
    }
    for (int64_t r = 0; r < k.rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const int64_t i = r * k.stride + c + v * lanes;
        const V g = hn::LoadU(d, dy + i);
        s[v] = hn::Add(s[v], g);
        p[v] = hn::MulAdd(g, hn::Sub(hn::LoadU(d, x + i), m[v]), p[v]);
      }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(s[v], d, sum + c + v * lanes);
      hn::StoreU(p[v], d, product + c + v * lanes);
    }
  });
}

/// One vector of the result; m, a, b, c are vectors too.
template <bool kGrad, class D, class V, class T>
HWY_INLINE void Apply(D d, const T* x, const T* dy, V m, V a, V b, V c, T* y, int64_t i) {
  V r = hn::MulAdd(hn::Sub(hn::LoadU(d, x + i), m), b, c);
  if constexpr (kGrad) r = hn::MulAdd(hn::LoadU(d, dy + i), a, r);
  hn::StoreU(r, d, y + i);
}

template <bool kGrad, class T>
void ApplyToAll(const NormBlock& k, const T* x, const T* dy, T mean, T a, T b, T c, T* y) {
  for (int64_t r = 0; r < k.rows; ++r)
    ForColumns<T>(k.width, [&](auto d, auto vectors, int64_t i) {
      const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
      for (int v = 0; v < decltype(vectors)::value; ++v)
        Apply<kGrad>(d, x, dy, hn::Set(d, mean), hn::Set(d, a), hn::Set(d, b), hn::Set(d, c), y,
                     r * k.stride + i + v * lanes);
    });
}

template <bool kGrad, class T>
void ApplyToColumns(const NormBlock& k, const T* x, const T* dy, const T* mean, const T* a,
                    const T* b, const T* c, T* y) {
  // Whole rows, to help the hardware prefetch; the coefficients are in the first-level cache.
  for (int64_t r = 0; r < k.rows; ++r)
    ForColumns<T>(k.width, [&](auto d, auto vectors, int64_t i) {
      const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
#pragma GCC unroll 4
      for (int v = 0; v < decltype(vectors)::value; ++v) {
        const int64_t at = i + v * lanes;
        const auto none = hn::Zero(d);
        const auto scale = kGrad ? hn::LoadU(d, a + at) : none;
        Apply<kGrad>(d, x, dy, hn::LoadU(d, mean + at), scale, hn::LoadU(d, b + at),
                     hn::LoadU(d, c + at), y, r * k.stride + at);
      }
    });
}

template <class T>
void Moments(bool by_columns, const NormBlock& k, const T* x, T* mean, T* rest, T* squares) {
  by_columns ? MomentsOfColumns(k, x, mean, rest, squares)
             : MomentsOfAll(k, x, mean, rest, squares);
}
template <class T>
void Sums(bool by_columns, const NormBlock& k, const T* x, const T* dy, const T* mean, T* sum,
          T* product) {
  by_columns ? SumsOfColumns(k, x, dy, mean, sum, product)
             : SumsOfAll(k, x, dy, *mean, sum, product);
}
template <bool kGrad, class T>
void ApplyTo(bool by_columns, const NormBlock& k, const T* x, const T* dy, const T* mean,
             const T* a, const T* b, const T* c, T* y) {
  by_columns ? ApplyToColumns<kGrad>(k, x, dy, mean, a, b, c, y)
             : ApplyToAll<kGrad>(k, x, dy, *mean, kGrad ? *a : T(0), *b, *c, y);
}
template <class T>
void ApplyAny(bool by_columns, const NormBlock& k, const T* x, const T* dy, const T* mean,
              const T* a, const T* b, const T* c, T* y) {
  dy ? ApplyTo<true>(by_columns, k, x, dy, mean, a, b, c, y)
     : ApplyTo<false>(by_columns, k, x, dy, mean, a, b, c, y);
}

// HWY_EXPORT takes functions, not templates.
void Moments32(bool by_columns, const NormBlock& k, const float* x, float* mean, float* rest,
               float* squares) {
  Moments(by_columns, k, x, mean, rest, squares);
}
void Sums32(bool by_columns, const NormBlock& k, const float* x, const float* dy, const float* mean,
            float* sum, float* product) {
  Sums(by_columns, k, x, dy, mean, sum, product);
}
void Apply32(bool by_columns, const NormBlock& k, const float* x, const float* dy,
             const float* mean, const float* a, const float* b, const float* c, float* y) {
  ApplyAny(by_columns, k, x, dy, mean, a, b, c, y);
}
void Moments64(bool by_columns, const NormBlock& k, const double* x, double* mean, double* rest,
               double* squares) {
  Moments(by_columns, k, x, mean, rest, squares);
}
void Sums64(bool by_columns, const NormBlock& k, const double* x, const double* dy,
            const double* mean, double* sum, double* product) {
  Sums(by_columns, k, x, dy, mean, sum, product);
}
void Apply64(bool by_columns, const NormBlock& k, const double* x, const double* dy,
             const double* mean, const double* a, const double* b, const double* c, double* y) {
  ApplyAny(by_columns, k, x, dy, mean, a, b, c, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace horngate::native
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace horngate::native {

HWY_EXPORT(Moments32);
HWY_EXPORT(Moments64);
HWY_EXPORT(Sums32);
HWY_EXPORT(Sums64);
HWY_EXPORT(Apply32);
HWY_EXPORT(Apply64);

void norm_moments(bool by_columns, const NormBlock& k, const float* x, float* mean, float* rest,
                  float* squares) {
  HWY_DYNAMIC_DISPATCH(Moments32)(by_columns, k, x, mean, rest, squares);
}
void norm_sums(bool by_columns, const NormBlock& k, const float* x, const float* dy,
               const float* mean, float* sum, float* product) {
  HWY_DYNAMIC_DISPATCH(Sums32)(by_columns, k, x, dy, mean, sum, product);
}
void norm_apply(bool by_columns, const NormBlock& k, const float* x, const float* dy,
                const float* mean, const float* a, const float* b, const float* c, float* y) {
  HWY_DYNAMIC_DISPATCH(Apply32)(by_columns, k, x, dy, mean, a, b, c, y);
}
void norm_moments(bool by_columns, const NormBlock& k, const double* x, double* mean, double* rest,
                  double* squares) {
  HWY_DYNAMIC_DISPATCH(Moments64)(by_columns, k, x, mean, rest, squares);
}
void norm_sums(bool by_columns, const NormBlock& k, const double* x, const double* dy,
               const double* mean, double* sum, double* product) {
  HWY_DYNAMIC_DISPATCH(Sums64)(by_columns, k, x, dy, mean, sum, product);
}
void norm_apply(bool by_columns, const NormBlock& k, const double* x, const double* dy,
                const double* mean, const double* a, const double* b, const double* c, double* y) {
  HWY_DYNAMIC_DISPATCH(Apply64)(by_columns, k, x, dy, mean, a, b, c, y);
}

}  // namespace horngate::native
#endif  // HWY_ONCE
