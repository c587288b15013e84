// Short operations on vectors of float or double.
#if defined(HORNGATE_FUSED_FLOAT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HORNGATE_FUSED_FLOAT_INL_H_
#undef HORNGATE_FUSED_FLOAT_INL_H_
#else
#define HORNGATE_FUSED_FLOAT_INL_H_
#endif

#include <cmath>

#include "engines/native/fused/basic-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HORNGATE_UNARY(Neg, hn::Neg(a))
HORNGATE_UNARY(Abs, hn::Abs(a))
HORNGATE_UNARY(Sqrt, hn::Sqrt(a))
HORNGATE_UNARY(Rsqrt, hn::Div(hn::Set(d, hn::TFromD<D>(1)), hn::Sqrt(a)))
HORNGATE_UNARY(Floor, hn::Floor(a))
HORNGATE_BINARY(Div, hn::Div(a, b))
HORNGATE_BINARY(NegatedMul, hn::Neg(hn::Mul(a, b)))

/// To nearest, halves to even. Highway's own one-lane version turns -0.5 into 0 and the number
/// below 0.5 into 1.
struct Round {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a) const {
#if HWY_TARGET == HWY_SCALAR
    return V(std::nearbyint(a.raw));
#else
    return hn::Round(a);
#endif
  }
};

// 1, -1, 0 (for -0 too) or NaN
struct Sign {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    const V zero = hn::Zero(d), one = hn::Set(d, hn::TFromD<D>(1));
    const V signed_one = hn::CopySign(one, a);
    return hn::IfThenElse(hn::Eq(a, zero), zero, hn::IfThenElse(hn::IsNaN(a), a, signed_one));
  }
};

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
