// pow on vectors of float or double, errors of at most 4 ulp, special cases as in std::pow. |x|^y =
// 2^(y log2 |x|) needs a logarithm with extra bits: floats compute in double, doubles in pairs of
// doubles.
#if defined(HORNGATE_FUSED_POW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HORNGATE_FUSED_POW_INL_H_
#undef HORNGATE_FUSED_POW_INL_H_
#else
#define HORNGATE_FUSED_POW_INL_H_
#endif

#include "engines/native/fused/math-inl.h"
#include "engines/native/fused/scalar_math.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// log2(m) = s P(s^2), s = (m - 1) / (m + 1), to 45 bits
inline constexpr double kLog2Short[] = {0x1.71547652b825p+1,  0x1.ec709dc53e4bp-1,
                                        0x1.2776c290e7d7dp-1, 0x1.a61a30c5c20a4p-2,
                                        0x1.4794ff9d8c2b4p-2, 0x1.21b604d34d6a6p-2};
/// 2^r, |r| <= 1/2, to 34 bits
inline constexpr double kExp2Short[] = {
    0x1.ffffffffaa659p-1, 0x1.62e42ff11c1b6p-1,  0x1.ebfbe0a6ce848p-3,  0x1.c6b08aa6b31e8p-5,
    0x1.3b29da8285c0cp-7, 0x1.5d8a758c85e91p-10, 0x1.446b880bcfdfcp-13, 0x1.fe15c458e2b56p-17};

/// a^y to float's precision, for doubles a >= 0 and y that come from floats.
template <class D, class V>
HWY_INLINE V pow_short(D d, V a, V y) {
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  const V one = hn::Set(d, 1.0);
  const auto parts = log_parts(d, a);
  const V s = hn::Div(hn::Sub(parts.m, one), hn::Add(parts.m, one));
  V log = hn::MulAdd(s, polynomial(d, hn::Mul(s, s), kLog2Short), parts.k);
  log = hn::IfThenElse(hn::Lt(a, infinity), log, a);
  log = hn::IfThenElse(hn::Eq(a, hn::Zero(d)), hn::Neg(infinity), log);
  const V t = clamp(d, hn::Mul(y, log), -300.0, 300.0);
  const V magic = hn::Set(d, FloatInfo<double>::kMagic);
  const V magic_n = hn::Add(t, magic);
  const V r = hn::Sub(t, hn::Sub(magic_n, magic));
  return hn::Mul(polynomial(d, r, kExp2Short), power_of_two(d, magic_n));
}

#if HWY_NATIVE_FMA

/// An unevaluated sum, |low| <= ulp(high) / 2.
template <class V>
struct Pair {
  V high, low;
};

/// a + b with |a| >= |b|
template <class V>
HWY_INLINE Pair<V> fast_sum(V a, V b) {
  const V high = hn::Add(a, b);
  return {high, hn::Sub(b, hn::Sub(high, a))};
}
template <class V>
HWY_INLINE Pair<V> product(V a, V b) {
  const V high = hn::Mul(a, b);
  return {high, hn::MulSub(a, b, high)};
}
template <class V>
HWY_INLINE Pair<V> product(Pair<V> a, Pair<V> b) {
  Pair<V> p = product(a.high, b.high);
  p.low = hn::Add(p.low, hn::MulAdd(a.high, b.low, hn::Mul(a.low, b.high)));
  return fast_sum(p.high, p.low);
}

/// log((1 + s) / (1 - s)) = 2 s + 2/3 s^3 + s^5 T(s^2)
inline constexpr double kPowT[] = {0x1.9999999999996p-2, 0x1.249249249300dp-2, 0x1.c71c71c583ed1p-3,
                                   0x1.745d18310fffep-3, 0x1.3b1362f6817c4p-3, 0x1.1120ae7077122p-3,
                                   0x1.de3444285b492p-4, 0x1.eb0c6174ba2fep-4};

/// log(a) for positive finite a, with about 66 bits.
template <class D, class V>
HWY_INLINE Pair<V> log_pair(D d, V a) {
  const V one = hn::Set(d, 1.0);
  const auto denormal = hn::Lt(a, hn::Set(d, std::numeric_limits<double>::min()));
  const V up = hn::IfThenElse(denormal, hn::Mul(a, hn::Set(d, 0x1p54)), a);
  const auto parts = log_parts(d, up);
  const V k = hn::Sub(parts.k, hn::IfThenElseZero(denormal, hn::Set(d, 54.0)));
  const V f = hn::Sub(parts.m, one);
  const V below = hn::Add(parts.m, one);
  const V below_low = hn::Sub(parts.m, hn::Sub(below, one));
  Pair<V> s;
  s.high = hn::Div(f, below);
  const V rest = hn::NegMulAdd(s.high, below_low, hn::NegMulAdd(s.high, below, f));
  s.low = hn::Div(rest, below);
  const Pair<V> s2 = product(s, s);
  const Pair<V> s3 = product(s, s2);
  const Pair<V> cubic =
      product(s3, Pair<V>{hn::Set(d, 0x1.5555555555555p-1), hn::Set(d, 0x1.5555555555555p-55)});
  const V tail = hn::Mul(hn::Mul(s3.high, s2.high), polynomial(d, s2.high, kPowT));
  // k ln2_high is exact (41 + 11 bits) and larger than 2 s unless it is 0.
  Pair<V> sum = fast_sum(hn::Mul(k, hn::Set(d, Ln2<double>::kHigh)), hn::Add(s.high, s.high));
  const V small = hn::Add(hn::MulAdd(k, hn::Set(d, Ln2<double>::kLow), hn::Add(s.low, s.low)),
                          hn::Add(cubic.low, tail));
  const Pair<V> with_cubic = fast_sum(sum.high, cubic.high);
  return fast_sum(with_cubic.high, hn::Add(hn::Add(sum.low, with_cubic.low), small));
}

/// a^y for doubles a >= 0.
template <class D, class V>
HWY_INLINE V pow_long(D d, V a, V y) {
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  Pair<V> log = log_pair(d, a);
  const auto zero = hn::Eq(a, hn::Zero(d)), finite = hn::Lt(a, infinity);
  log.high = hn::IfThenElse(finite, log.high, a);
  log.high = hn::IfThenElse(zero, hn::Neg(infinity), log.high);
  Pair<V> t = product(log.high, y);
  t.low = hn::MulAdd(log.low, y, t.low);
  const V limited = clamp(d, t.high, -800.0, 800.0);
  // Where the limit applies (or y is infinite) the low part is meaningless; NaN stays in the high
  // part.
  const V low =
      hn::IfThenElseZero(hn::And(hn::Eq(limited, t.high), hn::AndNot(zero, finite)), t.low);
  const V magic = hn::Set(d, FloatInfo<double>::kMagic);
  const V magic_n = hn::MulAdd(limited, hn::Set(d, 0x1.71547652b82fep+0), magic);
  const V n = hn::Sub(magic_n, magic);
  // r and 1 + r exactly, so that representable powers come out exact.
  const Pair<V> r = fast_sum(hn::NegMulAdd(n, hn::Set(d, Ln2<double>::kHigh), limited),
                             hn::NegMulAdd(n, hn::Set(d, Ln2<double>::kLow), low));
  const Pair<V> sum = fast_sum(hn::Set(d, 1.0), r.high);
  const V rest = hn::Add(sum.low, r.low);
  const V p = hn::Add(sum.high, hn::MulAdd(hn::Mul(r.high, r.high), exp_q(d, r.high), rest));
  return scale(d, p, n, magic_n);
}

#else

template <class D, class V>
HWY_INLINE V pow_long(D d, V a, V y) {
  alignas(64) double as[hn::MaxLanes(D())], ys[hn::MaxLanes(D())];
  hn::Store(a, d, as);
  hn::Store(y, d, ys);
  for (size_t i = 0; i < hn::Lanes(d); ++i) as[i] = scalar::pow(as[i], ys[i]);
  return hn::Load(d, as);
}

#endif

/// a^y for a >= 0.
template <class D, class V>
HWY_INLINE V pow_positive(D d, V a, V y) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
#if HWY_TARGET == HWY_SCALAR
    const hn::Rebind<double, D> dd;
    const auto z = pow_short(dd, hn::PromoteTo(dd, a), hn::PromoteTo(dd, y));
    return hn::Set(d, static_cast<float>(hn::GetLane(z)));  // DemoteTo would saturate here
#else
    const hn::Half<D> dh;
    const hn::Repartition<double, D> dd;
    const auto low = pow_short(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, a)),
                               hn::PromoteTo(dd, hn::LowerHalf(dh, y)));
    const auto high = pow_short(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, a)),
                                hn::PromoteTo(dd, hn::UpperHalf(dh, y)));
    return hn::Combine(d, hn::DemoteTo(dh, high), hn::DemoteTo(dh, low));
#endif
  } else {
    return pow_long(d, a, y);
  }
}

struct Pow {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y) const {
    using T = hn::TFromD<D>;
    const V zero = hn::Zero(d), one = hn::Set(d, T(1));
    const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
    const V a = hn::Abs(x);
    V z = pow_positive(d, a, y);
    z = hn::IfThenElse(hn::Eq(a, one), one, z);
    // Negative x: odd powers get the sign, non-integer ones are NaN.
    const V half = hn::Mul(y, hn::Set(d, T(0.5)));
    const auto whole = hn::Eq(hn::Trunc(y), y), even = hn::Eq(hn::Trunc(half), half);
    const auto odd = hn::AndNot(even, whole);
    z = hn::Xor(z, hn::IfThenElseZero(odd, hn::And(x, hn::SignBit(d))));
    const auto negative = hn::And(hn::Lt(x, zero), hn::Gt(x, hn::Neg(infinity)));
    const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
    z = hn::IfThenElse(hn::AndNot(whole, negative), nan, z);
    return hn::IfThenElse(hn::Or(hn::Eq(y, zero), hn::Eq(x, one)), one, z);
  }
};

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
