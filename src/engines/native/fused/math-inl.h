// exp, expm1, log, log1p, tanh, sigmoid, erf on vectors of float or double. Errors of at most 2 ulp
// (exp, log) or 4 ulp (the others); correct for infinities, NaN, zeros, denormals and results out
// of range. The polynomials are minimax fits made for this file.
#if defined(HORNGATE_FUSED_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HORNGATE_FUSED_MATH_INL_H_
#undef HORNGATE_FUSED_MATH_INL_H_
#else
#define HORNGATE_FUSED_MATH_INL_H_
#endif

#include <cstdint>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct FloatInfo;
template <>
struct FloatInfo<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr Bits kBias = 127;
  static constexpr float kMagic =
      0x1.8p23f;  // added, it leaves an integer in the low mantissa bits
};
template <>
struct FloatInfo<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr Bits kBias = 1023;
  static constexpr double kMagic = 0x1.8p52;
};

template <class D>
using BitsOf = hn::RebindToUnsigned<D>;

/// Polynomial with the constant coefficient first: c[0] + x (c[1] + x (...)).
template <class D, class V, class T, size_t kCount>
HWY_INLINE V polynomial(D d, V x, const T (&c)[kCount]) {
  V sum = hn::Set(d, c[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  return sum;
}

/// x limited to [lo, hi]; NaN stays. x86's min and max give their second operand if one is NaN.
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE V clamp(D d, V x, T lo, T hi) {
#if HWY_TARGET == HWY_SCALAR
  x = hn::IfThenElse(hn::Gt(x, hn::Set(d, hi)), hn::Set(d, hi), x);
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, lo)), hn::Set(d, lo), x);
#else
  return hn::Max(hn::Set(d, lo), hn::Min(hn::Set(d, hi), x));
#endif
}

/// 2^n for an integral n, given as n + kMagic, if the result is normal.
template <class D, class V>
HWY_INLINE V power_of_two(D d, V magic_n) {
  using Info = FloatInfo<hn::TFromD<D>>;
  const BitsOf<D> du;
  const auto exponent = hn::ShiftLeft<Info::kMantissa>(hn::BitCast(du, magic_n));
  return hn::BitCast(d, hn::Add(exponent, hn::Set(du, Info::kBias << Info::kMantissa)));
}

/// p * 2^n, rounded once, even if the result is denormal or infinite. |n| < 2 * bias; magic_n is n
/// + kMagic.
template <class D, class V>
HWY_INLINE V scale(D d, V p, V n, V magic_n) {
#ifdef HORNGATE_TRACED
  if (hn::has_scale()) return hn::scale(p, n);
#endif
#if HWY_TARGET == HWY_AVX3
  (void)magic_n;
  if constexpr (sizeof(hn::TFromD<D>) == 4)
    return V{_mm512_scalef_ps(p.raw, n.raw)};
  else
    return V{_mm512_scalef_pd(p.raw, n.raw)};
#else
  using T = hn::TFromD<D>;
  // Two factors give the same result as one, and are only needed if 2^n is not a normal number.
  const auto normal = hn::Le(hn::Abs(n), hn::Set(d, T(FloatInfo<T>::kBias - 1)));
  if (HWY_LIKELY(hn::AllTrue(d, normal))) return hn::Mul(p, power_of_two(d, magic_n));
  const V magic = hn::Set(d, FloatInfo<T>::kMagic);
  const V half = hn::MulAdd(n, hn::Set(d, T(0.5)), magic);
  const V rest = hn::Add(hn::Sub(n, hn::Sub(half, magic)), magic);
  return hn::Mul(hn::Mul(p, power_of_two(d, half)), power_of_two(d, rest));
#endif
}

/// The same for n <= 0 and results down to zero: via 2^(n + kUp), which is normal, and back.
template <class D, class V>
HWY_INLINE V scale_down(D d, V p, V n, V magic_n) {
#ifdef HORNGATE_TRACED
  if (hn::has_scale()) return hn::scale(p, n);
#endif
#if HWY_TARGET == HWY_AVX3
  return scale(d, p, n, magic_n);
#else
  using T = hn::TFromD<D>;
  using Info = FloatInfo<T>;
  (void)n;
  constexpr auto kUp = typename Info::Bits(sizeof(T) == 4 ? 64 : 128);
  const BitsOf<D> du;
  const auto exponent = hn::ShiftLeft<Info::kMantissa>(hn::BitCast(du, magic_n));
  const auto up = hn::Add(exponent, hn::Set(du, (Info::kBias + kUp) << Info::kMantissa));
  return hn::Mul(hn::Mul(p, hn::BitCast(d, up)),
                 hn::Set(d, T(sizeof(T) == 4 ? 0x1p-64 : 0x1p-128)));
#endif
}

/// q in exp(r) = 1 + r + r^2 q(r) for |r| <= ln 2 / 2.
inline constexpr float kExpF32[] = {0x1.fffffep-2f, 0x1.5554acp-3f, 0x1.555678p-5f, 0x1.122a3p-7f,
                                    0x1.6bebc8p-10f};
inline constexpr double kExpF64[] = {
    0x1.0000000000005p-1,  0x1.5555555555538p-3,  0x1.55555555520bcp-5,  0x1.111111111949dp-7,
    0x1.6c16c17f68d2cp-10, 0x1.a01a0173d488cp-13, 0x1.a019a5abf0f17p-16, 0x1.71de898175accp-19,
    0x1.28a3b757639ffp-22, 0x1.ae6bcd1edc3eap-26};

/// ln 2 in two parts, the first short enough for its product with n to be exact.
template <class T>
struct Ln2;
template <>
struct Ln2<float> {
  static constexpr float kHigh = 0x1.62e4p-1f, kLow = 0x1.7f7d1cp-20f;
};
template <>
struct Ln2<double> {
  static constexpr double kHigh = 0x1.62e42fefa3p-1, kLow = 0x1.3de6af278ece6p-42;
};

/// x = n ln 2 + r; q = q(r). magic_n is n + kMagic.
template <class V>
struct ExpParts {
  V magic_n, n, r, q;
};

template <class D, class V>
HWY_INLINE V exp_q(D d, V r) {
  if constexpr (sizeof(hn::TFromD<D>) == 4)
    return polynomial(d, r, kExpF32);
  else
    return polynomial(d, r, kExpF64);
}

template <class D, class V>
HWY_INLINE ExpParts<V> exp_parts(D d, V x) {
  using T = hn::TFromD<D>;
  const V magic = hn::Set(d, FloatInfo<T>::kMagic);
  ExpParts<V> e;
  e.magic_n = hn::MulAdd(x, hn::Set(d, T(0x1.71547652b82fep+0)), magic);
  e.n = hn::Sub(e.magic_n, magic);
  e.r = hn::NegMulAdd(e.n, hn::Set(d, Ln2<T>::kHigh), x);
  e.r = hn::NegMulAdd(e.n, hn::Set(d, Ln2<T>::kLow), e.r);
  e.q = exp_q(d, e.r);
  return e;
}

/// exp of a clamped x.
template <class D, class V>
HWY_INLINE V exp_in_range(D d, V x) {
  const ExpParts<V> e = exp_parts(d, x);
  const V one = hn::Set(d, hn::TFromD<D>(1));
  return scale(d, hn::MulAdd(hn::MulAdd(e.q, e.r, one), e.r, one), e.n, e.magic_n);
}

/// exp of a clamped x <= 0 (or so little above 0 that it rounds to 1).
template <class D, class V>
HWY_INLINE V exp_negative(D d, V x) {
  const ExpParts<V> e = exp_parts(d, x);
  const V one = hn::Set(d, hn::TFromD<D>(1));
  return scale_down(d, hn::MulAdd(hn::MulAdd(e.q, e.r, one), e.r, one), e.n, e.magic_n);
}

struct Exp {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    constexpr bool kSingle = sizeof(hn::TFromD<D>) == 4;
    return exp_in_range(d, kSingle ? clamp(d, x, hn::TFromD<D>(-104), hn::TFromD<D>(89))
                                   : clamp(d, x, hn::TFromD<D>(-746), hn::TFromD<D>(710)));
  }
};

/// expm1 of x <= 0, x > -bias ln 2. One part of ln 2 is enough for r: its error only counts n 2^n
/// times.
template <class D, class V>
HWY_INLINE V expm1_negative(D d, V x) {
  using T = hn::TFromD<D>;
  const V magic = hn::Set(d, FloatInfo<T>::kMagic);
  const V magic_n = hn::MulAdd(x, hn::Set(d, T(0x1.71547652b82fep+0)), magic);
  const V r = hn::NegMulAdd(hn::Sub(magic_n, magic), hn::Set(d, T(0x1.62e42fefa39efp-1)), x);
  const V p = hn::MulAdd(hn::Mul(r, r), exp_q(d, r), r);
  const V t = power_of_two(d, magic_n);
  return hn::MulAdd(t, p, hn::Sub(t, hn::Set(d, T(1))));
}

// 2^n (1 + p) - 1 with p = expm1(r), as 2 (2^(n-1) p + (2^(n-1) - 1/2)): 2^n may overflow when the
// result does not.
struct Expm1 {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    constexpr bool kSingle = sizeof(T) == 4;
    const V y = kSingle ? clamp(d, x, T(-40), T(89)) : clamp(d, x, T(-80), T(710));
    const ExpParts<V> e = exp_parts(d, y);
    const V p = hn::MulAdd(hn::Mul(e.r, e.r), e.q, e.r);
    const V t = power_of_two(d, hn::Sub(e.magic_n, hn::Set(d, T(1))));
    const V half = hn::MulAdd(t, p, hn::Sub(t, hn::Set(d, T(0.5))));
    // Halving would cost a denormal its last bit, and -0 its sign.
    const auto tiny = hn::Lt(hn::Abs(x), hn::Set(d, T(kSingle ? 0x1p-60 : 0x1p-500)));
    return hn::IfThenElse(tiny, x, hn::Add(half, half));
  }
};

// With m = expm1(-2 |x|): tanh |x| = -m / (2 + m).
template <class D, class V>
HWY_INLINE V tanh_m(D d, V x) {
  using T = hn::TFromD<D>;
  const V twice = hn::Or(hn::Add(x, x), hn::SignBit(d));
#if HWY_TARGET == HWY_SCALAR
  const V limited = hn::IfThenElse(hn::Lt(twice, hn::Set(d, T(-44))), hn::Set(d, T(-44)), twice);
#else
  const V limited = hn::Max(hn::Set(d, T(-44)), twice);
#endif
  return expm1_negative(d, limited);
}

struct Tanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V m = tanh_m(d, x);
    const V y = hn::Div(m, hn::Add(m, hn::Set(d, hn::TFromD<D>(2))));
    return hn::CopySign(y, x);
  }
};

// With e = exp(-|x|): 1 / (1 + e) or, for negative x, e / (1 + e).
template <class D, class V>
HWY_INLINE V sigmoid_e(D d, V x) {
  using T = hn::TFromD<D>;
  const V a = hn::Neg(hn::Abs(x));
  const T lo = sizeof(T) == 4 ? T(-104) : T(-746);
#if HWY_TARGET == HWY_SCALAR
  return exp_negative(d, hn::IfThenElse(hn::Lt(a, hn::Set(d, lo)), hn::Set(d, lo), a));
#else
  return exp_negative(d, hn::Max(hn::Set(d, lo), a));
#endif
}

struct Sigmoid {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const V e = sigmoid_e(d, x);
    const V top = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
    return hn::Div(top, hn::Add(e, one));
  }
};

/// exp(-(a * b)), as in radial functions.
struct ExpNegatedMul {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return Exp()(d, hn::Neg(hn::Mul(a, b)));
  }
};

/// x = 2^k m with m near 1 (m in [kLowest, 2 kLowest)), for positive normal x.
template <class D, class V>
struct LogParts {
  V m, k;
  hn::Vec<BitsOf<D>> biased_k;
};

template <class D, class V>
HWY_INLINE LogParts<D, V> log_parts(D d, V x) {
  using T = hn::TFromD<D>;
  using Info = FloatInfo<T>;
  using Bits = typename Info::Bits;
  const BitsOf<D> du;
  // 2/3 for float, sqrt(1/2) for double, to balance the intervals of the polynomials.
  constexpr Bits kLowest =
      sizeof(T) == 4 ? Bits(0x3f2aaaab) : static_cast<Bits>(0x3fe6a09e00000000u);
  constexpr Bits kOne = Info::kBias << Info::kMantissa;
  const auto bits = hn::Add(hn::BitCast(du, x), hn::Set(du, kOne - kLowest));
  LogParts<D, V> parts;
  parts.biased_k = hn::ShiftRight<Info::kMantissa>(bits);
  const auto fraction = hn::And(bits, hn::Set(du, (Bits(1) << Info::kMantissa) - 1));
  parts.m = hn::BitCast(d, hn::Add(fraction, hn::Set(du, kLowest)));
  // Small integer to float: or it into the mantissa of 2^kMantissa.
  constexpr T kTwoM = T(Bits(1) << Info::kMantissa);
  const auto integer = hn::Or(parts.biased_k, hn::BitCast(du, hn::Set(d, kTwoM)));
  parts.k = hn::Sub(hn::BitCast(d, integer), hn::Set(d, kTwoM + T(Info::kBias)));
  return parts;
}

/// log(1 + f) = f - f^2 / 2 + f^3 P(f), |f| <= 1/3
inline constexpr float kLogF32[] = {0x1.555508p-2f,  -0x1.fffef2p-3f, 0x1.99dp-3f,
                                    -0x1.559daep-3f, 0x1.1ed954p-3f,  -0x1.f31416p-4f,
                                    0x1.1e5ce4p-3f,  -0x1.07ffaep-3f};
/// log(1 + f) = 2 s + s R, s = f / (2 + f), R = s^2 P(s^2)
inline constexpr double kLogF64[] = {
    0x1.5555555555592p-1, 0x1.999999997fe5dp-2, 0x1.24924941f224ep-2, 0x1.c71c5202886ccp-3,
    0x1.7466414a24f43p-3, 0x1.39a16812df08bp-3, 0x1.2f095db213482p-3};

/// k ln 2 + log(1 + f)
template <class D, class V>
HWY_INLINE V log_sum(D d, V f, V k) {
  using T = hn::TFromD<D>;
  V small;  // log(1 + f) - f
  if constexpr (sizeof(T) == 4) {
    const V f2 = hn::Mul(f, f);
    small = hn::Mul(hn::Mul(f, f2), polynomial(d, f, kLogF32));
    small = hn::NegMulAdd(hn::Set(d, T(0.5)), f2, small);
  } else {
    const V s = hn::Div(f, hn::Add(f, hn::Set(d, T(2))));
    const V s2 = hn::Mul(s, s);
    const V r = hn::Mul(s2, polynomial(d, s2, kLogF64));
    const V half = hn::Mul(hn::Mul(f, f), hn::Set(d, T(0.5)));
    small = hn::Sub(hn::Mul(s, hn::Add(half, r)), half);  // 2 s = f - s f = f - f^2 / 2 + s f^2 / 2
  }
  small = hn::MulAdd(k, hn::Set(d, Ln2<T>::kLow), small);
  return hn::MulAdd(k, hn::Set(d, Ln2<T>::kHigh), hn::Add(f, small));
}

/// The result y where u is positive and finite, log's special values elsewhere.
template <class D, class V>
HWY_INLINE V log_special(D d, V u, V y) {
  using T = hn::TFromD<D>;
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  y = hn::IfThenElse(hn::Lt(u, infinity), y, u);  // +inf, NaN
  y = hn::IfThenElse(hn::Eq(u, hn::Zero(d)), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Lt(u, hn::Zero(d)), hn::Set(d, std::numeric_limits<T>::quiet_NaN()), y);
}

struct Log {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    constexpr int kMantissa = FloatInfo<T>::kMantissa;
    const auto denormal = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
    const V up = hn::Mul(x, hn::Set(d, T(typename FloatInfo<T>::Bits(1) << kMantissa)));
    const auto parts = log_parts(d, hn::IfThenElse(denormal, up, x));
    const V k = hn::Sub(parts.k, hn::IfThenElseZero(denormal, hn::Set(d, T(kMantissa))));
    return log_special(d, x, log_sum(d, hn::Sub(parts.m, hn::Set(d, T(1))), k));
  }
};

// u = 1 + x is rounded; the exact error of that sum, scaled like the mantissa, is put back into f.
struct Log1p {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    using Info = FloatInfo<T>;
    const BitsOf<D> du;
    const V one = hn::Set(d, T(1));
    const V u = hn::Add(x, one);
    const V back = hn::Sub(u, one);
    const V rest = hn::Add(hn::Sub(one, hn::Sub(u, back)), hn::Sub(x, back));
    const auto parts = log_parts(d, u);
    const auto exponent = hn::Sub(hn::Set(du, 2 * Info::kBias), parts.biased_k);
    const V down = hn::BitCast(d, hn::ShiftLeft<Info::kMantissa>(exponent));
    const auto matters = hn::Lt(u, hn::Set(d, T(typename Info::Bits(1) << (Info::kMantissa + 2))));
    const V scaled = hn::IfThenElseZero(matters, hn::Mul(rest, down));
    const V f = hn::Add(hn::Sub(parts.m, one), scaled);
    const V y = log_special(d, u, log_sum(d, f, parts.k));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);  // keeps -0
  }
};

/// erf(x) = x + x Q(x^2), |x| <= 1
inline constexpr float kErfSmallF32[] = {0x1.06eba8p-3f,  -0x1.81273ep-2f, 0x1.ce2cf8p-4f,
                                         -0x1.b7f90ep-6f, 0x1.5405b2p-8f,  -0x1.a3f7p-11f,
                                         0x1.496a32p-14f};
inline constexpr double kErfSmallF64[] = {
    0x1.06eba8214db68p-3,  -0x1.812746b0379bdp-2,  0x1.ce2f21a040d16p-4,  -0x1.b82ce311fa93bp-6,
    0x1.565bccf92b29dp-8,  -0x1.c02db03dd64cdp-11, 0x1.f9a2baa8ecd44p-14, -0x1.f4ca4d6e402b1p-17,
    0x1.b97fd3d0a0198p-20, -0x1.5c0726be3c879p-23, 0x1.d71b0dde1c7d7p-27, -0x1.abae45b859ca5p-31};
/// 1 - erf(a) = exp(-P(a)), a in [1, 4] or [1, 6]; beyond, erf is 1
inline constexpr float kErfLargeF32[] = {-0x1.8b3f2p-13f,  0x1.212c2cp+0f,  0x1.4434fp-1f,
                                         0x1.bc18dp-4f,    -0x1.9d0bd6p-6f, 0x1.1398fap-8f,
                                         -0x1.ceeaecp-12f, 0x1.6c068ep-16f};
inline constexpr double kErfLargeF64[] = {
    0x1.1d6ffd250c8fep-20,  0x1.20dcc5a6aa88bp+0,   0x1.45f94aa723229p-1,   0x1.a467670428a8cp-4,
    -0x1.351756f0ae816p-6,  -0x1.323078da0e9e6p-11, 0x1.1315922b08262p-9,   -0x1.e24c76017f94cp-11,
    0x1.e3ac5fe01933p-13,   -0x1.d5a689c274c81p-16, -0x1.e4ce87980c19p-19,  0x1.66cb1f0ec67cbp-19,
    -0x1.714191ab54bb2p-21, 0x1.d0d476835ce9p-24,   -0x1.76a7dad2a68b9p-27, 0x1.665bcda2cf031p-31,
    -0x1.37797d93e79cep-36};

struct Erf {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, T(1));
    const V a = hn::Abs(x);
    const V a2 = hn::Mul(a, a);
    V small, power;
    if constexpr (sizeof(T) == 4) {
      const V limited = clamp(d, a, T(0), T(4));
      small = polynomial(d, a2, kErfSmallF32);
      power = polynomial(d, limited, kErfLargeF32);
    } else {
      const V limited = clamp(d, a, T(0), T(6));
      small = polynomial(d, a2, kErfSmallF64);
      power = polynomial(d, limited, kErfLargeF64);
    }
    const V large = hn::Sub(one, exp_negative(d, hn::Neg(power)));
    return hn::CopySign(hn::IfThenElse(hn::Lt(a, one), hn::MulAdd(a, small, a), large), x);
  }
};

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
