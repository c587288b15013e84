// Casts between lanes. Floats are truncated towards zero; NaN and whatever does not fit give the
// smallest number of an integer lane, as on x86-64. (A narrower dtype wraps after that, so 300.0
// becomes uint8 44, as in NumPy; see ir/convert_element.h.) Anything but 0 is true.
#include "engines/native/fused/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/fused/ops_cast.cpp"
#include "hwy/foreach_target.h"

#include "engines/native/fused/basic-inl.h"
#include "engines/native/fused/bool-inl.h"
#include "engines/native/fused/convert-inl.h"
#include "engines/native/fused/scalar_math.h"
#include "engines/native/fused/simd.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace {

template <class To>
struct ScalarCast {
  template <class From>
  To operator()(From x) const {
    if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, int32_t>)
      return scalar::to_i32(x);
    else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, int64_t>)
      return scalar::to_i64(x);
    else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, uint64_t>)
      return scalar::to_u64(x);
    else
      return static_cast<To>(x);
  }
};
struct ScalarToBool {
  template <class From>
  uint8_t operator()(From x) const {
    return x != 0;
  }
};

template <class From, class To>
constexpr Kernel scalar_cast() {
  return scalar_convert_kernel<From, To, ScalarCast<To>>;
}
template <class From>
constexpr Kernel scalar_to_bool() {
  return scalar_convert_kernel<From, uint8_t, ScalarToBool>;
}

#if HWY_TARGET != HWY_SCALAR

struct Promote {
  template <class D, class V>
  HWY_INLINE auto operator()(D to, V a) const {
    return hn::PromoteTo(to, a);
  }
};
struct Demote {
  template <class D, class V>
  HWY_INLINE auto operator()(D to, V a) const {
    return hn::DemoteTo(to, a);
  }
};
struct Convert {
  template <class D, class V>
  HWY_INLINE auto operator()(D to, V a) const {
    return hn::ConvertTo(to, a);
  }
};
/// To int32. Highway saturates, so out-of-range numbers and NaN are replaced first.
struct FloatToInt {
  template <class D, class V>
  HWY_INLINE auto operator()(D to, V a) const {
    using T = hn::TFromV<V>;
    const hn::Rebind<T, D> d;
    const auto low = sizeof(T) == 8 ? hn::Gt(a, hn::Set(d, T(-2147483649.0)))
                                    : hn::Ge(a, hn::Set(d, T(-2147483648.0)));
    const auto fits = hn::And(low, hn::Lt(a, hn::Set(d, T(2147483648.0))));
    const V number = hn::IfThenElse(fits, a, hn::Set(d, T(-2147483648.0)));
    if constexpr (sizeof(T) == 8)
      return hn::DemoteTo(to, number);
    else
      return hn::ConvertTo(to, number);
  }
};

template <class T>
void to_bool_kernel(void* dst, const void* a, const void*, const void*, size_t n, unsigned flags) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d), sa = step_of(flags, kScalarA, lanes);
  const bool in = flags & (kPaddedIn | kScalarA), out = flags & kPaddedOut;
  const T* pa = static_cast<const T*>(a);
  uint8_t* po = static_cast<uint8_t*>(dst);
  for (size_t i = 0; i < n; i += lanes, pa += sa) {
    const auto zero = hn::Eq(load_some(d, pa, n - i, in), hn::Zero(d));
    store_bools(hn::Not(zero), d, po + i, n - i, out);  // Ne would be false for NaN
  }
}

template <class T>
void from_bool_kernel(void* dst, const void* a, const void*, const void*, size_t n,
                      unsigned flags) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const size_t lanes = hn::Lanes(d), sa = step_of(flags, kScalarA, lanes);
  const bool in = flags & (kPaddedIn | kScalarA), out = flags & kPaddedOut;
  const uint8_t* pa = static_cast<const uint8_t*>(a);
  T* po = static_cast<T*>(dst);
  for (size_t i = 0; i < n; i += lanes, pa += sa) {
    const auto mask = hn::Ne(load_bools(d, pa, n - i, in), hn::Zero(du));
    const auto ones = hn::IfThenElseZero(hn::RebindMask(d, mask), hn::Set(d, T(1)));
    store_some(ones, d, po + i, n - i, out);
  }
}

template <class T>
constexpr Kernel to_bool() {
  return to_bool_kernel<T>;
}
template <class T>
constexpr Kernel from_bool() {
  return from_bool_kernel<T>;
}

#else

template <class T>
constexpr Kernel to_bool() {
  return scalar_to_bool<T>();
}
template <class T>
constexpr Kernel from_bool() {
  return scalar_cast<uint8_t, T>();
}

#endif

template <class T>
void fill_row(Kernels& k, Lane from) {
  Kernel* to = k.cast[static_cast<int>(from)];
  to[static_cast<int>(Lane::f32)] = scalar_cast<T, float>();
  to[static_cast<int>(Lane::f64)] = scalar_cast<T, double>();
  to[static_cast<int>(Lane::i32)] = scalar_cast<T, int32_t>();
  to[static_cast<int>(Lane::i64)] = scalar_cast<T, int64_t>();
  to[static_cast<int>(Lane::u64)] = scalar_cast<T, uint64_t>();
  to[static_cast<int>(Lane::b8)] = to_bool<T>();
}

}  // namespace

void fill_cast(Kernels& k) {
  fill_row<float>(k, Lane::f32);
  fill_row<double>(k, Lane::f64);
  fill_row<int32_t>(k, Lane::i32);
  fill_row<int64_t>(k, Lane::i64);
  fill_row<uint64_t>(k, Lane::u64);
  const auto set = [&k](Lane from, Lane to, Kernel kernel) {
    k.cast[static_cast<int>(from)][static_cast<int>(to)] = kernel;
  };
  set(Lane::b8, Lane::f32, from_bool<float>());
  set(Lane::b8, Lane::f64, from_bool<double>());
  set(Lane::b8, Lane::i32, from_bool<int32_t>());
  set(Lane::b8, Lane::i64, from_bool<int64_t>());
  set(Lane::b8, Lane::u64, from_bool<uint64_t>());
  set(Lane::b8, Lane::b8, unary_kernel<uint8_t, Copy>);
  set(Lane::i64, Lane::u64, short_unary_kernel<int64_t, Copy>);
  set(Lane::u64, Lane::i64, short_unary_kernel<int64_t, Copy>);
#if HWY_TARGET != HWY_SCALAR
  set(Lane::f32, Lane::f64, convert_kernel<float, double, Promote>);
  set(Lane::f64, Lane::f32, convert_kernel<double, float, Demote>);
  set(Lane::f32, Lane::i32, convert_kernel<float, int32_t, FloatToInt>);
  set(Lane::i32, Lane::f32, convert_kernel<int32_t, float, Convert>);
  set(Lane::i32, Lane::f64, convert_kernel<int32_t, double, Promote>);
  set(Lane::f64, Lane::i32, convert_kernel<double, int32_t, FloatToInt>);
  set(Lane::i32, Lane::i64, convert_kernel<int32_t, int64_t, Promote>);
  set(Lane::i32, Lane::u64, convert_kernel<int32_t, int64_t, Promote>);
  set(Lane::i64, Lane::f64, convert_kernel<int64_t, double, Convert>);
#endif
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#define HORNGATE_FILL fill_cast
#include "engines/native/fused/fill-inl.h"
#endif
