// The SIMD loops of softmax and log_softmax: the maximum, the sum of exp(x - max), then the result.
// NaN and infinite maxima need no special care: they make the sum NaN, and with it the whole
// result.
#include "engines/native/kernels/softmax_simd.h"
#include "engines/native/fused/targets.h"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/kernels/softmax_simd.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "engines/native/fused/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace math = horngate::native::fused::HWY_NAMESPACE;

/// The end of a row after the full vectors: loaded with padding, stored without it. Masks are only
/// safe at the end of memory if the CPU has masked loads and stores.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadPart(D d, const T* x, int64_t count, T fill) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const auto mask = hn::FirstN(d, static_cast<size_t>(count));
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, d, x), hn::Set(d, fill));
#else
  HWY_ALIGN T part[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(hn::Set(d, fill), d, part);
  std::memcpy(part, x, static_cast<size_t>(count) * sizeof(T));
  return hn::Load(d, part);
#endif
}
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void StorePart(D d, V v, T* y, int64_t count) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, y);
#else
  HWY_ALIGN T part[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(v, d, part);
  std::memcpy(y, part, static_cast<size_t>(count) * sizeof(T));
#endif
}

template <class D, class T>
HWY_INLINE T RowMax(D d, const T* x, int64_t n) {
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a = hn::Set(d, kLowest), b = a, c = a, e = a;  // four chains hide the latency
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Max(hn::LoadU(d, x + i), a);
    b = hn::Max(hn::LoadU(d, x + i + lanes), b);
    c = hn::Max(hn::LoadU(d, x + i + 2 * lanes), c);
    e = hn::Max(hn::LoadU(d, x + i + 3 * lanes), e);
  }
  a = hn::Max(hn::Max(a, b), hn::Max(c, e));
  for (; i + lanes <= n; i += lanes) a = hn::Max(hn::LoadU(d, x + i), a);
  if (i < n) a = hn::Max(LoadPart(d, x + i, n - i, kLowest), a);
  return hn::GetLane(hn::MaxOfLanes(d, a));
}

/// Number of terms that are simply added; the sums of such blocks are added with Kahan's correction for rounding.
constexpr int64_t kBlock = 32;

template <class V>
HWY_INLINE void AddBlock(V block, V& total, V& lost) {
  const V term = hn::Sub(block, lost), sum = hn::Add(total, term);
  lost = hn::Sub(hn::Sub(sum, total), term);
  total = sum;
}

/// Sum of exp(x - max); kKeep stores the terms in y. Two chains, because one exp does not keep the
/// CPU busy.
template <bool kKeep, class D, class T>
HWY_INLINE T RowSum(D d, const T* x, int64_t n, T max, T* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto top = hn::Set(d, max);
  auto a = hn::Zero(d), b = a, total = a, lost = a;
  int64_t i = 0, end = 2 * lanes * kBlock;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    if (i == end) {
      AddBlock(hn::Add(a, b), total, lost);
      a = b = hn::Zero(d);
      end += 2 * lanes * kBlock;
    }
    if constexpr (!kKeep) {  // the next row: log_softmax waits for memory, exp does not
      hwy::Prefetch(x + n + i);
      hwy::Prefetch(x + n + i + lanes);
    }
    const auto u = math::Exp()(d, hn::Sub(hn::LoadU(d, x + i), top));
    const auto v = math::Exp()(d, hn::Sub(hn::LoadU(d, x + i + lanes), top));
    a = hn::Add(a, u);
    b = hn::Add(b, v);
    if constexpr (kKeep) {
      hn::StoreU(u, d, y + i);
      hn::StoreU(v, d, y + i + lanes);
    }
  }
  for (; i < n; i += lanes) {
    const int64_t count = std::min(lanes, n - i);
    constexpr T kLowest = -std::numeric_limits<T>::infinity();
    const auto part = count == lanes ? hn::LoadU(d, x + i) : LoadPart(d, x + i, count, kLowest);
    // Padding of -inf gives 0, or NaN if the sum is NaN anyway.
    const auto u = math::Exp()(d, hn::Sub(part, top));
    a = hn::Add(a, u);
    if constexpr (kKeep) StorePart(d, u, y + i, count);
  }
  AddBlock(hn::Add(a, b), total, lost);
  return hn::GetLane(hn::SumOfLanes(d, total));
}

/// y = f(y or x), element by element.
template <class D, class T, class F>
HWY_INLINE void ForRow(D d, const T* x, int64_t n, T* y, F f) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i);
  if (i < n) StorePart(d, f(LoadPart(d, x + i, n - i, T(0))), y + i, n - i);
}

template <class T>
HWY_INLINE T LogOf(T sum) {
  const hn::ScalableTag<T> d;
  return hn::GetLane(math::Log()(d, hn::Set(d, sum)));
}

template <class T>
HWY_INLINE void Rows(const T* x, int64_t rows, int64_t n, bool log, T* y) {
  const hn::ScalableTag<T> d;
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T max = RowMax(d, x, n);
    const auto top = hn::Set(d, max);
    if (log) {
      const auto rest = hn::Set(d, LogOf(RowSum<false>(d, x, n, max, y)));
      ForRow(d, x, n, y, [&](auto v) HWY_ATTR { return hn::Sub(hn::Sub(v, top), rest); });
    } else {
      const auto factor = hn::Set(d, T(1) / RowSum<true>(d, x, n, max, y));
      ForRow(d, y, n, y, [&](auto v) HWY_ATTR { return hn::Mul(v, factor); });
    }
  }
}

/// kCount vectors of columns side by side, so that each row reads a good piece of memory at once.
/// The last vector may be partial: `count` of its columns are wanted.
template <int kCount, class D, class T>
HWY_INLINE void ColumnGroup(D d, const T* x, int64_t n, int64_t stride, int64_t count, bool log,
                            T* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool whole = kCount > 1 || count == lanes;
  const auto load = [&](const T* p)
                        HWY_ATTR { return whole ? hn::LoadU(d, p) : LoadPart(d, p, count, T(0)); };
  const auto store = [&](auto v, T* p) HWY_ATTR {
    if (whole)
      hn::StoreU(v, d, p);
    else
      StorePart(d, v, p, count);
  };
  hn::Vec<D> top[kCount], sum[kCount], total[kCount], lost[kCount];
  for (int k = 0; k < kCount; ++k) {
    top[k] = hn::Set(d, -std::numeric_limits<T>::infinity());
    total[k] = lost[k] = hn::Zero(d);
  }
  for (int64_t i = 0; i < n; ++i)
    for (int k = 0; k < kCount; ++k) top[k] = hn::Max(load(x + i * stride + k * lanes), top[k]);
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    for (int k = 0; k < kCount; ++k) sum[k] = hn::Zero(d);
    for (int64_t i = begin; i < std::min(n, begin + kBlock); ++i) {
      for (int k = 0; k < kCount; ++k) {
        const auto e = math::Exp()(d, hn::Sub(load(x + i * stride + k * lanes), top[k]));
        sum[k] = hn::Add(sum[k], e);
        if (!log) store(e, y + i * stride + k * lanes);
      }
    }
    for (int k = 0; k < kCount; ++k) AddBlock(sum[k], total[k], lost[k]);
  }
  // Now the operand of the last step: log(sum) or 1 / sum.
  for (int k = 0; k < kCount; ++k)
    sum[k] = log ? math::Log()(d, total[k]) : hn::Div(hn::Set(d, T(1)), total[k]);
  for (int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < kCount; ++k) {
      const int64_t at = i * stride + k * lanes;
      if (log)
        store(hn::Sub(hn::Sub(load(x + at), top[k]), sum[k]), y + at);
      else
        store(hn::Mul(load(y + at), sum[k]), y + at);
    }
  }
}

template <class T>
HWY_INLINE void Columns(const T* x, int64_t n, int64_t stride, int64_t width, bool log, T* y) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t k = 0;
  for (; k + 4 * lanes <= width; k += 4 * lanes)
    ColumnGroup<4>(d, x + k, n, stride, lanes, log, y + k);
  for (; k < width; k += lanes)
    ColumnGroup<1>(d, x + k, n, stride, std::min(lanes, width - k), log, y + k);
}

void Rows32(const float* x, int64_t rows, int64_t n, bool log, float* y) {
  Rows(x, rows, n, log, y);
}
void Rows64(const double* x, int64_t rows, int64_t n, bool log, double* y) {
  Rows(x, rows, n, log, y);
}
void Columns32(const float* x, int64_t n, int64_t stride, int64_t width, bool log, float* y) {
  Columns(x, n, stride, width, log, y);
}
void Columns64(const double* x, int64_t n, int64_t stride, int64_t width, bool log, double* y) {
  Columns(x, n, stride, width, log, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace horngate::native::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace horngate::native::kernels {

HWY_EXPORT(Rows32);
HWY_EXPORT(Rows64);
HWY_EXPORT(Columns32);
HWY_EXPORT(Columns64);

void softmax_rows(const float* x, int64_t rows, int64_t n, bool log, float* y) {
  HWY_DYNAMIC_DISPATCH(Rows32)(x, rows, n, log, y);
}
void softmax_rows(const double* x, int64_t rows, int64_t n, bool log, double* y) {
  HWY_DYNAMIC_DISPATCH(Rows64)(x, rows, n, log, y);
}
void softmax_columns(const float* x, int64_t n, int64_t stride, int64_t width, bool log, float* y) {
  HWY_DYNAMIC_DISPATCH(Columns32)(x, n, stride, width, log, y);
}
void softmax_columns(const double* x, int64_t n, int64_t stride, int64_t width, bool log,
                     double* y) {
  HWY_DYNAMIC_DISPATCH(Columns64)(x, n, stride, width, log, y);
}

}  // namespace horngate::native::kernels
#endif  // HWY_ONCE
