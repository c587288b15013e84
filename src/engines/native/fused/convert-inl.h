// dst = F()(to, a) for differing element types: as many elements at a time as the larger type has
// lanes.
#if defined(HORNGATE_FUSED_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HORNGATE_FUSED_CONVERT_INL_H_
#undef HORNGATE_FUSED_CONVERT_INL_H_
#else
#define HORNGATE_FUSED_CONVERT_INL_H_
#endif

#include <type_traits>

#include "engines/native/fused/loop-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class From, class To, class F>
void convert_kernel(void* dst, const void* a, const void*, const void*, size_t n, unsigned flags) {
  using Larger = std::conditional_t<(sizeof(From) > sizeof(To)), From, To>;
  const hn::ScalableTag<Larger> d;
  const hn::Rebind<From, decltype(d)> from;
  const hn::Rebind<To, decltype(d)> to;
  const size_t lanes = hn::Lanes(d), sa = step_of(flags, kScalarA, lanes);
  const bool in = flags & (kPaddedIn | kScalarA), out = flags & kPaddedOut;
  const From* pa = static_cast<const From*>(a);
  To* po = static_cast<To*>(dst);
  for (size_t i = 0; i < n; i += lanes, pa += sa)
    store_some(F()(to, load_some(from, pa, n - i, in)), to, po + i, n - i, out);
}

/// One element at a time.
template <class From, class To, class F>
void scalar_convert_kernel(void* dst, const void* a, const void*, const void*, size_t n,
                           unsigned flags) {
  const size_t sa = flags & kScalarA ? 0 : 1;
  const From* pa = static_cast<const From*>(a);
  To* po = static_cast<To*>(dst);
  for (size_t i = 0; i < n; ++i) po[i] = F()(pa[i * sa]);
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
