// Comparisons, which give bool lanes, and select.
#include "engines/native/fused/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/fused/ops_compare.cpp"
#include "hwy/foreach_target.h"

#include "engines/native/fused/basic-inl.h"
#include "engines/native/fused/bool-inl.h"
#include "engines/native/fused/loop-inl.h"
#include "engines/native/fused/simd.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace {

#define HORNGATE_COMPARE(name, function)         \
  struct name {                                  \
    template <class V>                           \
    HWY_INLINE auto operator()(V a, V b) const { \
      return hn::function(a, b);                 \
    }                                            \
  };
HORNGATE_COMPARE(Equal, Eq)
HORNGATE_COMPARE(Less, Lt)
#undef HORNGATE_COMPARE
// Highway's Ne is false for NaN on some targets.
struct NotEqual {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Not(hn::Eq(a, b));
  }
};
struct LessEqual {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    if constexpr (hwy::IsFloat<hn::TFromV<V>>())
      return hn::Le(a, b);
    else
      return hn::Not(hn::Lt(b, a));
  }
};

template <class T, class F>
void compare_kernel(void* dst, const void* a, const void* b, const void*, size_t n,
                    unsigned flags) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const size_t sa = step_of(flags, kScalarA, lanes), sb = step_of(flags, kScalarB, lanes);
  const bool in_a = flags & (kPaddedIn | kScalarA), in_b = flags & (kPaddedIn | kScalarB);
  const T* pa = static_cast<const T*>(a);
  const T* pb = static_cast<const T*>(b);
  uint8_t* po = static_cast<uint8_t*>(dst);
  for (size_t i = 0; i < n; i += lanes, pa += sa, pb += sb) {
    const size_t left = n - i;
    store_bools(F()(load_some(d, pa, left, in_a), load_some(d, pb, left, in_b)), d, po + i, left,
                flags & kPaddedOut);
  }
}

// a > b is b < a.
template <class T, class F>
void swapped_kernel(void* dst, const void* a, const void* b, const void* c, size_t n,
                    unsigned flags) {
  const unsigned scalars = (flags & kScalarA ? kScalarB : 0u) | (flags & kScalarB ? kScalarA : 0u);
  compare_kernel<T, F>(dst, b, a, c, n, (flags & ~(kScalarA | kScalarB)) | scalars);
}

template <class T>
void select_kernel(void* dst, const void* a, const void* b, const void* c, size_t n,
                   unsigned flags) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const size_t lanes = hn::Lanes(d), sa = step_of(flags, kScalarA, lanes);
  const size_t sb = step_of(flags, kScalarB, lanes), sc = step_of(flags, kScalarC, lanes);
  const bool in_a = flags & (kPaddedIn | kScalarA), in_b = flags & (kPaddedIn | kScalarB);
  const bool in_c = flags & (kPaddedIn | kScalarC);
  const uint8_t* pa = static_cast<const uint8_t*>(a);
  const T* pb = static_cast<const T*>(b);
  const T* pc = static_cast<const T*>(c);
  T* po = static_cast<T*>(dst);
  for (size_t i = 0; i < n; i += lanes, pa += sa, pb += sb, pc += sc) {
    const size_t left = n - i;
    const auto condition = hn::Ne(load_bools(d, pa, left, in_a), hn::Zero(du));
    const auto v = hn::IfThenElse(hn::RebindMask(d, condition), load_some(d, pb, left, in_b),
                                  load_some(d, pc, left, in_c));
    store_some(v, d, po + i, left, flags & kPaddedOut);
  }
}

// Bools are 0 or 1, so bit operations compare them.
constexpr uint8_t kTrue = 1;
HORNGATE_BINARY(EqualBool, hn::Xor(hn::Xor(a, b), hn::Set(d, kTrue)))
HORNGATE_BINARY(LessBool, hn::AndNot(a, b))
HORNGATE_BINARY(LessEqualBool, hn::Or(hn::Xor(a, hn::Set(d, kTrue)), b))
HORNGATE_BINARY(GreaterBool, hn::AndNot(b, a))
HORNGATE_BINARY(GreaterEqualBool, hn::Or(hn::Xor(b, hn::Set(d, kTrue)), a))
struct SelectBool {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b, V c) const {
    return hn::IfThenElse(hn::Ne(a, hn::Zero(d)), b, c);
  }
};

template <class T>
void fill(Kernels& k, Lane lane) {
  k.set(Op::eq, lane, compare_kernel<T, Equal>);
  k.set(Op::ne, lane, compare_kernel<T, NotEqual>);
  k.set(Op::lt, lane, compare_kernel<T, Less>);
  k.set(Op::le, lane, compare_kernel<T, LessEqual>);
  k.set(Op::gt, lane, swapped_kernel<T, Less>);
  k.set(Op::ge, lane, swapped_kernel<T, LessEqual>);
  k.set(Op::select, lane, select_kernel<T>);
}

}  // namespace

void fill_compare(Kernels& k) {
  fill<float>(k, Lane::f32);
  fill<double>(k, Lane::f64);
  fill<int32_t>(k, Lane::i32);
  fill<int64_t>(k, Lane::i64);
  fill<uint64_t>(k, Lane::u64);
  k.set(Op::eq, Lane::b8, binary_kernel<uint8_t, EqualBool>);
  k.set(Op::lt, Lane::b8, binary_kernel<uint8_t, LessBool>);
  k.set(Op::le, Lane::b8, binary_kernel<uint8_t, LessEqualBool>);
  k.set(Op::gt, Lane::b8, binary_kernel<uint8_t, GreaterBool>);
  k.set(Op::ge, Lane::b8, binary_kernel<uint8_t, GreaterEqualBool>);
  k.set(Op::select, Lane::b8, ternary_kernel<uint8_t, SelectBool>);
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#define HORNGATE_FILL fill_compare
#include "engines/native/fused/fill-inl.h"
#endif
