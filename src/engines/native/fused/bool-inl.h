// Conversion between masks and bools (bytes 0 or 1), for lanes of any size.
#if defined(HORNGATE_FUSED_BOOL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HORNGATE_FUSED_BOOL_INL_H_
#undef HORNGATE_FUSED_BOOL_INL_H_
#else
#define HORNGATE_FUSED_BOOL_INL_H_
#endif

#include "engines/native/fused/loop-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE void store_bools(hn::Mask<D> mask, D d, uint8_t* p, size_t left, bool padded) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint8_t, D> d8;
  const auto ones = hn::And(hn::BitCast(du, hn::VecFromMask(d, mask)), hn::Set(du, 1));
  store_some(hn::TruncateTo(d8, ones), d8, p, left, padded);
}

/// The bools as unsigned lanes of the width of D.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> load_bools(D, const uint8_t* p, size_t left,
                                                       bool padded) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint8_t, D> d8;
  const auto bytes = load_some(d8, p, left, padded);
  if constexpr (sizeof(hn::TFromD<D>) == 8)
    return hn::PromoteTo(du, hn::PromoteTo(hn::Rebind<uint32_t, D>(), bytes));
  else
    return hn::PromoteTo(du, bytes);
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
