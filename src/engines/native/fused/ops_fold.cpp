// Folds of a block to one value (reductions along the inner axis), and of many short segments.
#include "engines/native/fused/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/fused/ops_fold.cpp"
#include "hwy/foreach_target.h"

#include <limits>
#include <type_traits>

#include "engines/native/fused/basic-inl.h"
#include "engines/native/fused/loop-inl.h"
#include "engines/native/fused/simd.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace {

// Each fold: its operation on vectors and on elements, and its identity.
template <class T>
struct SumFold : Add {
  static T one(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
  static constexpr T kIdentity = 0;
};
template <class T>
struct ProdFold : Mul {
  static T one(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
  static constexpr T kIdentity = 1;
};
template <class T>
struct MaxFold : Maximum {
  static T one(T a, T b) { return a != a || a > b ? a : b; }
  static constexpr T kIdentity = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                             : std::numeric_limits<T>::lowest();
};
template <class T>
struct MinFold : Minimum {
  static T one(T a, T b) { return a != a || a < b ? a : b; }
  static constexpr T kIdentity = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                             : std::numeric_limits<T>::max();
};
HORNGATE_BINARY(OrBits, hn::Or(a, b))
HORNGATE_BINARY(AndBits, hn::And(a, b))
struct AnyFold : OrBits {
  static uint8_t one(uint8_t a, uint8_t b) { return a | b; }
  static constexpr uint8_t kIdentity = 0;
};
struct AllFold : AndBits {
  static uint8_t one(uint8_t a, uint8_t b) { return a & b; }
  static constexpr uint8_t kIdentity = 1;
};

constexpr size_t kFromMemory = 8192;  // bytes; results of other instructions are shorter

// Four accumulators per lane and a tree over the lanes: small rounding errors, no long chain of
// additions.
template <class T, class F>
HWY_INLINE T fold_block(const T* p, size_t n) {
  const hn::ScalableTag<T> d;
  const F f;
  const size_t lanes = hn::Lanes(d);
  auto v0 = hn::Set(d, F::kIdentity), v1 = v0, v2 = v0, v3 = v0;
  size_t i = 0;
  const auto step = [&] HWY_ATTR {
    v0 = f(d, v0, hn::LoadU(d, p + i));
    v1 = f(d, v1, hn::LoadU(d, p + i + lanes));
    v2 = f(d, v2, hn::LoadU(d, p + i + 2 * lanes));
    v3 = f(d, v3, hn::LoadU(d, p + i + 3 * lanes));
  };
  // Long inputs come straight from memory: prefetch a page ahead.
  constexpr bool kSum = std::is_same_v<F, SumFold<T>> && std::is_floating_point_v<T>;
  if (kSum && n * sizeof(T) >= kFromMemory)
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
      for (size_t at = 0; at < 4 * lanes * sizeof(T); at += 64)
        __builtin_prefetch(reinterpret_cast<const char*>(p + i) + 4096 + at, 0, 2);
      step();
    }
  for (; i + 4 * lanes <= n; i += 4 * lanes) step();
  for (; i + lanes <= n; i += lanes) v0 = f(d, v0, hn::LoadU(d, p + i));
  if (i < n) v1 = hn::IfThenElse(hn::FirstN(d, n - i), f(d, v1, load_n(d, p + i, n - i)), v1);
  v0 = f(d, f(d, v0, v1), f(d, v2, v3));
  // The same tree, but in registers.
  if constexpr (kSum) return hn::GetLane(hn::SumOfLanes(d, v0));
  alignas(64) T lane[hn::MaxLanes(d)];
  hn::Store(v0, d, lane);
  for (size_t width = lanes / 2; width; width /= 2)
    for (size_t j = 0; j < width; ++j) lane[j] = F::one(lane[j], lane[j + width]);
  return lane[0];
}

template <class T, class F>
void fold_kernel(void* acc, const void* src, size_t n) {
  const T value = fold_block<T, F>(static_cast<const T*>(src), n);
  if constexpr (std::is_same_v<F, SumFold<float>>) {
    *static_cast<double*>(acc) += value;
  } else {
    T* total = static_cast<T*>(acc);
    *total = F::one(*total, value);
  }
}

template <class T, class F>
void segment_kernel(void* dst, const void* src, size_t n, size_t length) {
  const T* p = static_cast<const T*>(src);
  T* po = static_cast<T*>(dst);
  size_t i = 0;
  if (length <= 2 * hn::Lanes(hn::ScalableTag<T>())) {
    for (; i + 4 <= n; i += 4, p += 4 * length) {
      T v0 = F::kIdentity, v1 = v0, v2 = v0, v3 = v0;
      for (size_t j = 0; j < length; ++j) {
        v0 = F::one(v0, p[j]);
        v1 = F::one(v1, p[j + length]);
        v2 = F::one(v2, p[j + 2 * length]);
        v3 = F::one(v3, p[j + 3 * length]);
      }
      po[i] = v0, po[i + 1] = v1, po[i + 2] = v2, po[i + 3] = v3;
    }
    for (; i < n; ++i, p += length) {
      T v = F::kIdentity;
      for (size_t j = 0; j < length; ++j) v = F::one(v, p[j]);
      po[i] = v;
    }
  }
  for (; i < n; ++i, p += length) po[i] = fold_block<T, F>(p, length);
}

// Several rows at a time: each accumulator is read and written once for all of them.
template <class T, class F>
void fold_rows_kernel(void* acc, const void* const* rows, size_t n) {
  const hn::ScalableTag<T> d;
  const F f;
  const size_t lanes = hn::Lanes(d);
  T* to = static_cast<T*>(acc);
  const T* p[kFoldRows];
  for (int k = 0; k < kFoldRows; ++k) p[k] = static_cast<const T*>(rows[k]);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto a = f(d, hn::LoadU(d, p[0] + i), hn::LoadU(d, p[1] + i));
    const auto b = f(d, hn::LoadU(d, p[2] + i), hn::LoadU(d, p[3] + i));
    const auto c = f(d, hn::LoadU(d, p[4] + i), hn::LoadU(d, p[5] + i));
    const auto e = f(d, hn::LoadU(d, p[6] + i), hn::LoadU(d, p[7] + i));
    hn::StoreU(f(d, hn::LoadU(d, to + i), f(d, f(d, a, b), f(d, c, e))), d, to + i);
  }
  for (; i < n; ++i) {
    const T a = F::one(F::one(p[0][i], p[1][i]), F::one(p[2][i], p[3][i]));
    const T c = F::one(F::one(p[4][i], p[5][i]), F::one(p[6][i], p[7][i]));
    to[i] = F::one(to[i], F::one(a, c));
  }
}

template <class T, class F>
void set(Kernels& k, Fold fold, Lane lane) {
  k.fold[static_cast<int>(fold)][static_cast<int>(lane)] = fold_kernel<T, F>;
  k.segment[static_cast<int>(fold)][static_cast<int>(lane)] = segment_kernel<T, F>;
  k.fold_rows[static_cast<int>(fold)][static_cast<int>(lane)] = fold_rows_kernel<T, F>;
}
template <class T>
void fill(Kernels& k, Lane lane) {
  set<T, SumFold<T>>(k, Fold::sum, lane);
  set<T, ProdFold<T>>(k, Fold::prod, lane);
  set<T, MaxFold<T>>(k, Fold::max, lane);
  set<T, MinFold<T>>(k, Fold::min, lane);
}

// Columns of float32: sums of blocks are added in float64.
void widen_add(void* dst, const void* a, const void* b, const void*, size_t n, unsigned) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const double* pa = static_cast<const double*>(a);
  const float* pb = static_cast<const float*>(b);
  double* po = static_cast<double*>(dst);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, pa + i), hn::PromoteTo(d, hn::LoadU(df, pb + i))), d, po + i);
  for (; i < n; ++i) po[i] = pa[i] + pb[i];
}

}  // namespace

void fill_fold(Kernels& k) {
  fill<float>(k, Lane::f32);
  fill<double>(k, Lane::f64);
  fill<int32_t>(k, Lane::i32);
  fill<int64_t>(k, Lane::i64);
  fill<uint64_t>(k, Lane::u64);
  set<uint8_t, AnyFold>(k, Fold::any, Lane::b8);
  set<uint8_t, AllFold>(k, Fold::all, Lane::b8);
  k.widen_add = widen_add;
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#define HORNGATE_FILL fill_fold
#include "engines/native/fused/fill-inl.h"
#endif
