// sin and cos on vectors of float or double, errors of at most 4 ulp for every argument. Moderate
// arguments are reduced by multiples of pi/2 in three or four parts (Cody-Waite); a vector with a
// larger one goes to libm.
#if defined(HORNGATE_FUSED_TRIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HORNGATE_FUSED_TRIG_INL_H_
#undef HORNGATE_FUSED_TRIG_INL_H_
#else
#define HORNGATE_FUSED_TRIG_INL_H_
#endif

#include "engines/native/fused/math-inl.h"
#include "engines/native/fused/scalar_math.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// pi/2 in parts. With fused multiply-add every product is exact; without it, the parts are shorter
/// and the range is smaller.
template <class T>
struct HalfPi;
template <>
struct HalfPi<float> {
#if HWY_NATIVE_FMA
  static constexpr float kPart[] = {0x1.921fb4p+0f, 0x1.4442dp-24f, 0x1.84698ap-48f};
  static constexpr float kLimit = 30000;
#else
  static constexpr float kPart[] = {0x1.921cp+0f, 0x1.daap-15f, 0x1.10b4p-30f, 0x1.84698ap-48f};
  static constexpr float kLimit = 400;
#endif
};
template <>
struct HalfPi<double> {
#if HWY_NATIVE_FMA
  static constexpr double kPart[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c06p-54,
                                     0x1.c1cd129024e09p-107};
#else
  static constexpr double kPart[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                                     0x1.b839a252049c1p-104};
#endif
  static constexpr double kLimit = 1e6;
};

/// sin r = r + r^3 S(r^2), cos r = 1 - r^2 / 2 + r^4 C(r^2), |r| <= pi/4
inline constexpr float kSinF32[] = {-0x1.555546p-3f, 0x1.11074ep-7f, -0x1.9947f4p-13f};
inline constexpr float kCosF32[] = {0x1.55554ap-5f, -0x1.6c0c78p-10f, 0x1.99fc96p-16f};
inline constexpr double kSinF64[] = {-0x1.5555555555549p-3,  0x1.111111110f80ap-7,
                                     -0x1.a01a019c02aaep-13, 0x1.71de356a1815bp-19,
                                     -0x1.ae5e5b19a88f7p-26, 0x1.5d8fa7ce3fbb7p-33};
inline constexpr double kCosF64[] = {0x1.555555555554cp-5,  -0x1.6c16c16c15133p-10,
                                     0x1.a01a019ca9159p-16, -0x1.27e4f802e5314p-22,
                                     0x1.1ee9e6aa1f4c2p-29, -0x1.8fabafe95b79p-37};

/// sin(x + kQuadrant pi/2) for |x| <= kLimit.
template <int kQuadrant, class D, class V>
HWY_INLINE V sin_reduced(D d, V x) {
  using T = hn::TFromD<D>;
  using Bits = typename FloatInfo<T>::Bits;
  const BitsOf<D> du;
  const V magic = hn::Set(d, FloatInfo<T>::kMagic);
  const V magic_n = hn::MulAdd(x, hn::Set(d, T(0x1.45f306dc9c883p-1)), magic);
  const V n = hn::Sub(magic_n, magic);
  V r = x;
  for (const T part : HalfPi<T>::kPart) r = hn::NegMulAdd(n, hn::Set(d, part), r);
  const V r2 = hn::Mul(r, r);
  V s, c;
  if constexpr (sizeof(T) == 4) {
    s = polynomial(d, r2, kSinF32);
    c = polynomial(d, r2, kCosF32);
  } else {
    s = polynomial(d, r2, kSinF64);
    c = polynomial(d, r2, kCosF64);
  }
  s = hn::MulAdd(hn::Mul(r, r2), s, r);
  c = hn::MulAdd(hn::Mul(r2, r2), c, hn::NegMulAdd(r2, hn::Set(d, T(0.5)), hn::Set(d, T(1))));
  const auto quadrant = hn::Add(hn::BitCast(du, magic_n), hn::Set(du, Bits(kQuadrant)));
  const auto odd = hn::Ne(hn::And(quadrant, hn::Set(du, Bits(1))), hn::Zero(du));
  const auto sign = hn::ShiftLeft<sizeof(T) * 8 - 2>(hn::And(quadrant, hn::Set(du, Bits(2))));
  return hn::Xor(hn::IfThenElse(hn::RebindMask(d, odd), c, s), hn::BitCast(d, sign));
}

/// y, with f(x) inserted where |x| is beyond the limit.
template <class D, class V, class T = hn::TFromD<D>>
HWY_NOINLINE V trig_large(D d, V x, V y, T (*f)(T)) {
  alignas(64) T xs[hn::MaxLanes(D())], ys[hn::MaxLanes(D())];
  hn::Store(x, d, xs);
  hn::Store(y, d, ys);
  for (size_t i = 0; i < hn::Lanes(d); ++i)
    if (xs[i] > HalfPi<T>::kLimit || xs[i] < -HalfPi<T>::kLimit) ys[i] = f(xs[i]);
  return hn::Load(d, ys);
}

struct Sin {
  template <class D, class V, class T = hn::TFromD<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const V y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, sin_reduced<0>(d, x));  // keeps -0
    const auto large = hn::Gt(hn::Abs(x), hn::Set(d, HalfPi<T>::kLimit));
    if (HWY_UNLIKELY(!hn::AllFalse(d, large))) return trig_large<D, V, T>(d, x, y, scalar::sin);
    return y;
  }
};

struct Cos {
  template <class D, class V, class T = hn::TFromD<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const V y = sin_reduced<1>(d, x);
    const auto large = hn::Gt(hn::Abs(x), hn::Set(d, HalfPi<T>::kLimit));
    if (HWY_UNLIKELY(!hn::AllFalse(d, large))) return trig_large<D, V, T>(d, x, y, scalar::cos);
    return y;
  }
};

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
