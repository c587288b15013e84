// Loops over blocks, per target: whole vectors, then a partial vector that goes through the same
// operations, so that an element's value does not depend on its position.
#if defined(HORNGATE_FUSED_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HORNGATE_FUSED_LOOP_INL_H_
#undef HORNGATE_FUSED_LOOP_INL_H_
#else
#define HORNGATE_FUSED_LOOP_INL_H_
#endif

#include <cstring>

#include "engines/native/fused/kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The first n elements at p, 0 < n < lanes; the others are 0.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_n(D d, const T* p, size_t n) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  // On AVX2 a masked load of smaller elements is a plain load, which may touch the next page.
  if constexpr (HWY_TARGET == HWY_AVX3 || sizeof(T) >= 4)
    return hn::MaskedLoad(hn::FirstN(d, n), d, p);
#endif
  alignas(64) T buffer[hn::MaxLanes(D())] = {};
  for (size_t i = 0; i < n; ++i) buffer[i] = p[i];
  return hn::Load(d, buffer);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_n(hn::Vec<D> v, D d, T* p, size_t n) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  if constexpr (HWY_TARGET == HWY_AVX3 || sizeof(T) >= 4)
    return hn::BlendedStore(v, hn::FirstN(d, n), d, p);
#endif
  alignas(64) T buffer[hn::MaxLanes(D())];
  hn::Store(v, d, buffer);
  for (size_t i = 0; i < n; ++i) p[i] = buffer[i];
}

/// `left` elements remain: handles a whole vector unless the memory ends before.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_some(D d, const T* p, size_t left, bool padded) {
  return HWY_LIKELY(left >= hn::Lanes(d) || padded) ? hn::LoadU(d, p) : load_n(d, p, left);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_some(hn::Vec<D> v, D d, T* p, size_t left, bool padded) {
  if (HWY_LIKELY(left >= hn::Lanes(d) || padded))
    hn::StoreU(v, d, p);
  else
    store_n(v, d, p, left);
}

/// Elements from one vector to the next: 0 for a repeated scalar.
HWY_INLINE size_t step_of(unsigned flags, unsigned scalar, size_t lanes) {
  return flags & scalar ? 0 : lanes;
}

/// dst = F()(d, a). One copy of the (long) body serves whole and partial vectors.
template <class T, class F>
void unary_kernel(void* dst, const void* a, const void*, const void*, size_t n, unsigned flags) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d), sa = step_of(flags, kScalarA, lanes);
  const bool in = flags & (kPaddedIn | kScalarA), out = flags & kPaddedOut;
  const T* pa = static_cast<const T*>(a);
  T* po = static_cast<T*>(dst);
  for (size_t i = 0; i < n; i += lanes, pa += sa)
    store_some(F()(d, load_some(d, pa, n - i, in)), d, po + i, n - i, out);
}

/// dst = F()(d, a, b), for long bodies.
template <class T, class F>
void binary_kernel(void* dst, const void* a, const void* b, const void*, size_t n, unsigned flags) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const size_t sa = step_of(flags, kScalarA, lanes), sb = step_of(flags, kScalarB, lanes);
  const bool in_a = flags & (kPaddedIn | kScalarA), in_b = flags & (kPaddedIn | kScalarB);
  const bool out = flags & kPaddedOut;
  const T* pa = static_cast<const T*>(a);
  const T* pb = static_cast<const T*>(b);
  T* po = static_cast<T*>(dst);
  for (size_t i = 0; i < n; i += lanes, pa += sa, pb += sb) {
    const size_t left = n - i;
    store_some(F()(d, load_some(d, pa, left, in_a), load_some(d, pb, left, in_b)), d, po + i, left,
               out);
  }
}

/// The same for bodies of one or two instructions: unrolled, because the loop itself would take
/// half of the time.
template <class T, class F>
void short_unary_kernel(void* dst, const void* a, const void* b, const void* c, size_t n,
                        unsigned flags) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d), sa = step_of(flags, kScalarA, lanes);
  const T* pa = static_cast<const T*>(a);
  T* po = static_cast<T*>(dst);
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes, pa += 2 * sa) {
    const auto v0 = F()(d, hn::LoadU(d, pa)), v1 = F()(d, hn::LoadU(d, pa + sa));
    hn::StoreU(v0, d, po + i);
    hn::StoreU(v1, d, po + i + lanes);
  }
  if (i < n) unary_kernel<T, F>(po + i, pa, b, c, n - i, flags);
}

template <class T, class F>
void short_binary_kernel(void* dst, const void* a, const void* b, const void* c, size_t n,
                         unsigned flags) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const size_t sa = step_of(flags, kScalarA, lanes), sb = step_of(flags, kScalarB, lanes);
  const T* pa = static_cast<const T*>(a);
  const T* pb = static_cast<const T*>(b);
  T* po = static_cast<T*>(dst);
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes, pa += 2 * sa, pb += 2 * sb) {
    const auto v0 = F()(d, hn::LoadU(d, pa), hn::LoadU(d, pb));
    const auto v1 = F()(d, hn::LoadU(d, pa + sa), hn::LoadU(d, pb + sb));
    hn::StoreU(v0, d, po + i);
    hn::StoreU(v1, d, po + i + lanes);
  }
  if (i < n) binary_kernel<T, F>(po + i, pa, pb, c, n - i, flags);
}

/// dst = F()(d, a, b, c)
template <class T, class F>
void ternary_kernel(void* dst, const void* a, const void* b, const void* c, size_t n,
                    unsigned flags) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const size_t sa = step_of(flags, kScalarA, lanes), sb = step_of(flags, kScalarB, lanes);
  const size_t sc = step_of(flags, kScalarC, lanes);
  const bool in_a = flags & (kPaddedIn | kScalarA), in_b = flags & (kPaddedIn | kScalarB);
  const bool in_c = flags & (kPaddedIn | kScalarC), out = flags & kPaddedOut;
  const T* pa = static_cast<const T*>(a);
  const T* pb = static_cast<const T*>(b);
  const T* pc = static_cast<const T*>(c);
  T* po = static_cast<T*>(dst);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes, pa += sa, pb += sb, pc += sc)
    hn::StoreU(F()(d, hn::LoadU(d, pa), hn::LoadU(d, pb), hn::LoadU(d, pc)), d, po + i);
  if (i < n) {
    const size_t left = n - i;
    store_some(F()(d, load_some(d, pa, left, in_a), load_some(d, pb, left, in_b),
                   load_some(d, pc, left, in_c)),
               d, po + i, left, out);
  }
}

/// One element at a time, for operations without a vector form: dst = F()(a, b).
template <class T, class F>
void scalar_kernel(void* dst, const void* a, const void* b, const void*, size_t n, unsigned flags) {
  const size_t sa = flags & kScalarA ? 0 : 1, sb = flags & kScalarB ? 0 : 1;
  const T* pa = static_cast<const T*>(a);
  const T* pb = static_cast<const T*>(b);
  T* po = static_cast<T*>(dst);
  for (size_t i = 0; i < n; ++i) po[i] = F()(pa[i * sa], pb[i * sb]);
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
