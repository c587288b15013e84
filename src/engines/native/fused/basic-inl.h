// Short operations on vectors, shared by the element-wise kernels and the folds.
#if defined(HORNGATE_FUSED_BASIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HORNGATE_FUSED_BASIC_INL_H_
#undef HORNGATE_FUSED_BASIC_INL_H_
#else
#define HORNGATE_FUSED_BASIC_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#define HORNGATE_UNARY(name, expression)      \
  struct name {                               \
    template <class D, class V>               \
    HWY_INLINE V operator()(D d, V a) const { \
      (void)d;                                \
      return expression;                      \
    }                                         \
  };
#define HORNGATE_BINARY(name, expression)          \
  struct name {                                    \
    template <class D, class V>                    \
    HWY_INLINE V operator()(D d, V a, V b) const { \
      (void)d;                                     \
      return expression;                           \
    }                                              \
  };

HORNGATE_UNARY(Copy, a)
HORNGATE_BINARY(Add, hn::Add(a, b))
HORNGATE_BINARY(Sub, hn::Sub(a, b))
HORNGATE_BINARY(Mul, hn::Mul(a, b))

/// The larger; NaN if one is NaN. x86 gives the second operand if one is NaN, so a NaN in b comes
/// through by itself.
struct Maximum {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
#if HWY_TARGET == HWY_SCALAR
      return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Gt(a, b)), a, b);
#else
      return hn::IfThenElse(hn::IsNaN(a), a, hn::Max(a, b));
#endif
    } else {
      return hn::Max(a, b);
    }
  }
};
struct Minimum {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
#if HWY_TARGET == HWY_SCALAR
      return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Lt(a, b)), a, b);
#else
      return hn::IfThenElse(hn::IsNaN(a), a, hn::Min(a, b));
#endif
    } else {
      return hn::Min(a, b);
    }
  }
};

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
