// The SIMD loops of the CTC kernels.
#include "engines/native/fused/targets.h"  // before Highway
#include "engines/native/kernels/ctc.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/kernels/ctc_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "engines/native/fused/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::kernels::ctc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace math = horngate::native::fused::HWY_NAMESPACE;

// Calls f(vector, index) over x; the last vector is filled up with `fill`.
template <class T, class F>
HWY_INLINE void ForRow(const T* x, int64_t n, T fill, F f) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(hn::LoadU(d, x + i), i);
  if (i == n) return;
  HWY_ALIGN T rest[HWY_MAX_BYTES / sizeof(T)];
  std::fill(std::copy(x + i, x + n, rest), rest + lanes, fill);
  f(hn::Load(d, rest), i);
}

template <class T>
HWY_INLINE T RowMax(const T* x, int64_t n) {
  const hn::ScalableTag<T> d;
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  auto top = hn::Set(d, kLowest);
  ForRow(x, n, kLowest, [&](auto v, int64_t) HWY_ATTR { top = hn::Max(v, top); });
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

// A NaN may escape the maximum, but not the sum; nor does inf - inf.
template <class T>
HWY_INLINE RowStats<T> Stats(const T* x, int64_t n) {
  const hn::ScalableTag<T> d;
  const T max = RowMax(x, n);
  const auto top = hn::Set(d, max);
  auto sum = hn::Zero(d);
  ForRow(x, n, -std::numeric_limits<T>::infinity(),
         [&](auto v, int64_t) HWY_ATTR { sum = hn::Add(sum, math::Exp()(d, hn::Sub(v, top))); });
  return {max, hn::GetLane(hn::SumOfLanes(d, sum))};
}

template <class T>
HWY_INLINE void ScaledExp(const T* x, int64_t n, T max, T scale, T* y) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto top = hn::Set(d, max), factor = hn::Set(d, scale);
  ForRow(x, n, max, [&](auto v, int64_t i) HWY_ATTR {
    const auto e = hn::Mul(factor, math::Exp()(d, hn::Sub(v, top)));
    if (i + lanes <= n) return hn::StoreU(e, d, y + i);
    HWY_ALIGN T rest[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(e, d, rest);
    std::copy(rest, rest + (n - i), y + i);
  });
}

// log(exp a + exp b + exp c) with two exponentials: the largest is exp 0.
template <class D, class V>
HWY_INLINE V LogSumExp(D d, V a, V b, V c) {
  const V high = hn::Max(a, b), low = hn::Min(a, b);
  const V top = hn::Max(high, c), middle = hn::Min(high, c);
  const V sum = hn::Add(math::Exp()(d, hn::Sub(low, top)), math::Exp()(d, hn::Sub(middle, top)));
  const V one = hn::Set(d, hn::TFromD<D>(1));
  // The sum plus 1 is in [1, 3]: none of log's special cases.
  const auto parts = math::log_parts(d, hn::Add(sum, one));
  return hn::Add(top, math::log_sum(d, hn::Sub(parts.m, one), parts.k));
}

template <int kSign, class T>
HWY_INLINE T Step(const T* HWY_RESTRICT from, const T* HWY_RESTRICT emit,
                  const T* HWY_RESTRICT skip, T shift, int64_t n, T* HWY_RESTRICT out) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto moved = hn::Set(d, shift);
  auto top = hn::Set(d, static_cast<T>(3 * kLogZero));
  for (int64_t s = 0; s < n; s += lanes) {
    const auto stay = hn::LoadU(d, from + s), next = hn::LoadU(d, from + s - kSign);
    const auto jump = hn::Add(hn::LoadU(d, from + s - 2 * kSign),
                              hn::LoadU(d, kSign > 0 ? skip + s : skip + s + 2));
    const auto sum = LogSumExp(d, stay, next, jump);
    const auto y = hn::Add(hn::LoadU(d, emit + s), hn::Sub(sum, moved));
    top = hn::Max(top, y);
    hn::StoreU(y, d, out + s);
  }
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

template <class T>
HWY_INLINE T Posterior(const T* alpha, const T* beta, const T* emit, int64_t n, T* p) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto top = hn::Set(d, static_cast<T>(3 * kLogZero));
  for (int64_t s = 0; s < n; s += lanes) {
    const auto v =
        hn::Add(hn::LoadU(d, alpha + s), hn::Sub(hn::LoadU(d, beta + s), hn::LoadU(d, emit + s)));
    top = hn::Max(top, v);
    hn::StoreU(v, d, p + s);
  }
  top = hn::MaxOfLanes(d, top);
  auto sum = hn::Zero(d);
  for (int64_t s = 0; s < n; s += lanes) {
    const auto e = math::Exp()(d, hn::Sub(hn::LoadU(d, p + s), top));
    sum = hn::Add(sum, e);
    hn::StoreU(e, d, p + s);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

#define HORNGATE_CTC_TARGET(T, suffix)                                                       \
  RowStats<T> Stats##suffix(const T* x, int64_t n) { return Stats(x, n); }                   \
  T Max##suffix(const T* x, int64_t n) { return RowMax(x, n); }                              \
  void ScaledExp##suffix(const T* x, int64_t n, T max, T scale, T* y) {                      \
    ScaledExp(x, n, max, scale, y);                                                          \
  }                                                                                          \
  T Forward##suffix(const T* f, const T* emit, const T* skip, T shift, int64_t n, T* out) {  \
    return Step<1>(f, emit, skip, shift, n, out);                                            \
  }                                                                                          \
  T Backward##suffix(const T* f, const T* emit, const T* skip, T shift, int64_t n, T* out) { \
    return Step<-1>(f, emit, skip, shift, n, out);                                           \
  }                                                                                          \
  T Posterior##suffix(const T* a, const T* b, const T* emit, int64_t n, T* p) {              \
    return Posterior(a, b, emit, n, p);                                                      \
  }
HORNGATE_CTC_TARGET(float, 32)
HORNGATE_CTC_TARGET(double, 64)
#undef HORNGATE_CTC_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace horngate::native::kernels::ctc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace horngate::native::kernels::ctc {

#define HORNGATE_CTC_EXPORT(T, suffix)                                                    \
  HWY_EXPORT(Stats##suffix);                                                              \
  HWY_EXPORT(Max##suffix);                                                                \
  HWY_EXPORT(ScaledExp##suffix);                                                          \
  HWY_EXPORT(Forward##suffix);                                                            \
  HWY_EXPORT(Backward##suffix);                                                           \
  HWY_EXPORT(Posterior##suffix);                                                          \
  RowStats<T> row_stats(const T* x, int64_t n) {                                          \
    return HWY_DYNAMIC_DISPATCH(Stats##suffix)(x, n);                                     \
  }                                                                                       \
  int64_t argmax(const T* x, int64_t n) {                                                 \
    const T* found = std::find(x, x + n, HWY_DYNAMIC_DISPATCH(Max##suffix)(x, n));        \
    return found == x + n ? 0 : found - x; /* nothing but NaN */                          \
  }                                                                                       \
  void scaled_exp(const T* x, int64_t n, T max, T scale, T* y) {                          \
    HWY_DYNAMIC_DISPATCH(ScaledExp##suffix)(x, n, max, scale, y);                         \
  }                                                                                       \
  T step_forward(const T* f, const T* emit, const T* skip, T shift, int64_t n, T* out) {  \
    return HWY_DYNAMIC_DISPATCH(Forward##suffix)(f, emit, skip, shift, n, out);           \
  }                                                                                       \
  T step_backward(const T* f, const T* emit, const T* skip, T shift, int64_t n, T* out) { \
    return HWY_DYNAMIC_DISPATCH(Backward##suffix)(f, emit, skip, shift, n, out);          \
  }                                                                                       \
  T posterior(const T* a, const T* b, const T* emit, int64_t n, T* p) {                   \
    return HWY_DYNAMIC_DISPATCH(Posterior##suffix)(a, b, emit, n, p);                     \
  }
HORNGATE_CTC_EXPORT(float, 32)
HORNGATE_CTC_EXPORT(double, 64)
#undef HORNGATE_CTC_EXPORT

}  // namespace horngate::native::kernels::ctc
#endif  // HWY_ONCE
