// The SIMD part of random numbers. Products are rounded before they are added (no FMA), so that
// every instruction set gives the same bits.
#include "engines/native/fused/targets.h"  // before Highway
#include "engines/native/kernels/random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/kernels/random_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace horngate::native::kernels::random {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<float>;
using D64 = hn::ScalableTag<double>;
using DU64 = hn::ScalableTag<uint64_t>;
using VU64 = hn::Vec<DU64>;

// GCC would contract a product and a sum of vectors into an FMA; an empty instruction stops it.
template <class V>
HWY_INLINE V Rounded(V v) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && !HWY_COMPILER_CLANG
  __asm__("" : "+x"(v.raw));
#endif
  return v;
}

template <class V>
HWY_INLINE V MulPlus(V a, V b, V c) {
  return hn::Add(Rounded(hn::Mul(a, b)), c);
}

// c[0] + c[1] x + c[2] x^2 + ...
template <class D, class T, size_t N>
HWY_INLINE hn::Vec<D> Polynomial(D d, hn::Vec<D> x, const T (&c)[N]) {
  hn::Vec<D> y = hn::Set(d, c[N - 1]);
  for (size_t i = N - 1; i-- > 0;) y = MulPlus(y, x, hn::Set(d, c[i]));
  return y;
}

// ---- bits ----

struct Counters {
  VU64 c0, c1, c2, c3;  // the low half of each lane counts, the upper half is ignored
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE VU64 MulLow(VU64 a, VU64 b) {
  return hn::Set(DU64(), (hn::GetLane(a) & UINT32_MAX) * (hn::GetLane(b) & UINT32_MAX));
}

HWY_INLINE VU64 Join(VU64 low, VU64 high) {
  return hn::Or(hn::And(low, hn::Set(DU64(), uint64_t{UINT32_MAX})), hn::ShiftLeft<32>(high));
}
#else
HWY_INLINE VU64 MulLow(VU64 a, VU64 b) {
  const hn::Repartition<uint32_t, DU64> d;
  return hn::MulEven(hn::BitCast(d, a), hn::BitCast(d, b));
}

HWY_INLINE VU64 Join(VU64 low, VU64 high) {
  const hn::Repartition<uint32_t, DU64> d;
  return hn::BitCast(DU64(),
                     hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(high)), hn::BitCast(d, low)));
}
#endif

HWY_INLINE void Round(Counters& s, VU64 k0, VU64 k1) {
  const DU64 d;
  const VU64 p0 = MulLow(s.c0, hn::Set(d, uint64_t{kMultiplier[0]}));
  const VU64 p1 = MulLow(s.c2, hn::Set(d, uint64_t{kMultiplier[1]}));
  s.c0 = hn::Xor3(hn::ShiftRight<32>(p1), s.c1, k0);
  s.c1 = p1;
  s.c2 = hn::Xor3(hn::ShiftRight<32>(p0), s.c3, k1);
  s.c3 = p0;
}

HWY_INLINE Counters Start(VU64 block, VU64 high) {
  return {block, hn::ShiftRight<32>(block), high, hn::ShiftRight<32>(high)};
}

// Two groups at a time: a single one would wait for its multiplications.
HWY_INLINE void FillTwo(Stream stream, uint64_t group, uint64_t* HWY_RESTRICT a,
                        uint64_t* HWY_RESTRICT b) {
  const DU64 d;
  constexpr size_t kBlocks = kBlocksPerGroup;
  const VU64 high = hn::Set(d, stream.high);
  for (size_t j = 0; j < kBlocks; j += hn::Lanes(d)) {
    const VU64 block = hn::Iota(d, group * kBlocks + j);
    Counters s = Start(block, high), t = Start(hn::Add(block, hn::Set(d, kBlocks)), high);
    uint32_t k0 = static_cast<uint32_t>(stream.key), k1 = static_cast<uint32_t>(stream.key >> 32);
    for (int round = 0; round < kRounds; ++round) {
      const VU64 v0 = hn::Set(d, uint64_t{k0}), v1 = hn::Set(d, uint64_t{k1});
      Round(s, v0, v1);
      Round(t, v0, v1);
      k0 += kWeyl[0];
      k1 += kWeyl[1];
    }
    hn::StoreU(Join(s.c0, s.c1), d, a + j);
    hn::StoreU(Join(s.c2, s.c3), d, a + kBlocks + j);
    hn::StoreU(Join(t.c0, t.c1), d, b + j);
    hn::StoreU(Join(t.c2, t.c3), d, b + kBlocks + j);
  }
}

HWY_INLINE void Fill(Stream stream, uint64_t group, int64_t count, uint64_t* out) {
  constexpr int64_t kWords = kGroupBytes / 8;
  for (; count >= 2; count -= 2, group += 2, out += 2 * kWords)
    FillTwo(stream, group, out, out + kWords);
  uint64_t unused[kWords];
  if (count) FillTwo(stream, group, out, unused);
}

// ---- bits to numbers ----

template <class D>
using Bits = hn::Vec<hn::RebindToUnsigned<D>>;

// [0, 1), 24 and 53 bits.
HWY_INLINE hn::Vec<D32> Uniform(D32 d, Bits<D32> bits) {
  const hn::RebindToSigned<D32> di;
  return hn::Mul(hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<8>(bits))), hn::Set(d, 0x1p-24f));
}
HWY_INLINE hn::Vec<D64> Uniform(D64 d, Bits<D64> bits) {
  const hn::RebindToSigned<D64> di;
  return hn::Mul(hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<11>(bits))), hn::Set(d, 0x1p-53));
}

// (0, 1] with as many low bits as fit: the smallest value decides how far the tails reach (6.5 and
// 9.2).
HWY_INLINE hn::Vec<D32> Positive(D32 d, Bits<D32> bits) {
  const hn::RebindToSigned<D32> di;
  const auto n = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<1>(bits)));
  return hn::Mul(hn::Add(n, hn::Set(d, 1.0f)), hn::Set(d, 0x1p-31f));
}
HWY_INLINE hn::Vec<D64> Positive(D64 d, Bits<D64> bits) {
  const hn::RebindToSigned<D64> di;
  const auto n = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<2>(bits)));
  return hn::Mul(hn::Add(n, hn::Set(d, 1.0)), hn::Set(d, 0x1p-62));
}

// (-1, 1), odd multiples of 2^-24 and 2^-53: symmetric, and never an endpoint.
HWY_INLINE hn::Vec<D32> Symmetric(D32 d, Bits<D32> bits) {
  return hn::Sub(hn::Add(Uniform(d, bits), Uniform(d, bits)), hn::Set(d, 1.0f - 0x1p-24f));
}
HWY_INLINE hn::Vec<D64> Symmetric(D64 d, Bits<D64> bits) {
  return hn::Sub(hn::Add(Uniform(d, bits), Uniform(d, bits)), hn::Set(d, 1.0 - 0x1p-53));
}

// Coefficients, which depend on the precision.
template <class T>
struct Constants;
template <>
struct Constants<float> {
  static constexpr int kMantissa = 23;
  static constexpr uint32_t kRootHalf = 0x3f3504f3;
  static constexpr float kTurn = 0x1.921fb6p-30f;  // 2 pi / 2^32
  static constexpr float kAtanh[] = {1.0f, 1 / 3.0f, 1 / 5.0f, 1 / 7.0f, 1 / 9.0f};
  static constexpr float kSin[] = {1.0f, -1 / 6.0f, 1 / 120.0f, -1 / 5040.0f, 1 / 362880.0f};
  static constexpr float kCos[] = {1.0f,        -1 / 2.0f,    1 / 24.0f,
                                   -1 / 720.0f, 1 / 40320.0f, -1 / 3628800.0f};
  static constexpr float kInverse[] = {1.196287989855954f,       0.3131885801050151f,
                                       0.015581618369721304f,    -0.0031280322669112225f,
                                       -0.00020570489526860986f, 8.652994875224526e-05f,
                                       -6.068442348736163e-06f};
};
template <>
struct Constants<double> {
  static constexpr int kMantissa = 52;
  static constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  static constexpr double kTurn = 0x1.921fb54442d18p-62;  // 2 pi / 2^64
  static constexpr double kAtanh[] = {1.0,      1 / 3.0,  1 / 5.0,  1 / 7.0,  1 / 9.0, 1 / 11.0,
                                      1 / 13.0, 1 / 15.0, 1 / 17.0, 1 / 19.0, 1 / 21.0};
  static constexpr double kSin[] = {
      1.0,          -1 / 6.0,        1 / 120.0,        -1 / 5040.0,
      1 / 362880.0, -1 / 39916800.0, 1 / 6227020800.0, -1 / 1307674368000.0};
  static constexpr double kCos[] = {1.0,
                                    -1 / 2.0,
                                    1 / 24.0,
                                    -1 / 720.0,
                                    1 / 40320.0,
                                    -1 / 3628800.0,
                                    1 / 479001600.0,
                                    -1 / 87178291200.0,
                                    1 / 20922789888000.0};
  static constexpr double kInverse[] = {
      1.1962880133226081,     0.31318746951902576,     0.015590069599382474,
      -0.0031520754901595855, -0.00017284092473827112, 6.291773679549718e-05,
      2.730116375251277e-06,  -1.372133054083552e-06,  -4.453399158241277e-08,
      2.6296673809627127e-08, 3.4306174061642553e-09,  -1.5950388113392385e-09,
      1.8491088668670722e-10, -7.577765372747679e-12};
};

// ln x for normal x > 0: x = 2^e m with m in [sqrt 1/2, sqrt 2), ln m = 2 atanh((m - 1) / (m + 1)).
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V Log(D d, V x) {
  using C = Constants<T>;
  const hn::RebindToSigned<D> di;
  using I = hn::TFromD<decltype(di)>;
  const auto bits = hn::Sub(hn::BitCast(di, x), hn::Set(di, static_cast<I>(C::kRootHalf)));
  const auto e = hn::ShiftRight<C::kMantissa>(bits);
  const auto m = hn::BitCast(d, hn::Sub(hn::BitCast(di, x), hn::ShiftLeft<C::kMantissa>(e)));
  const auto one = hn::Set(d, T{1});
  const auto s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const auto series = hn::Mul(hn::Add(s, s), Polynomial(d, hn::Mul(s, s), C::kAtanh));
  return MulPlus(hn::ConvertTo(d, e), hn::Set(d, static_cast<T>(0.693147180559945309417)),
                 Rounded(series));
}

// Cosine and sine of an angle given by all bits of a word, as a fraction of the full turn.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE void CosSin(D d, Bits<D> word, V& cosine, V& sine) {
  using C = Constants<T>;
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  using U = hn::TFromD<decltype(du)>;
  constexpr int kTop = 8 * sizeof(U) - 2;
  // The nearest quarter turn, and the distance from it: at most an eighth.
  const auto quarter = hn::ShiftRight<kTop>(hn::Add(word, hn::Set(du, U{1} << (kTop - 1))));
  const auto rest = hn::BitCast(di, hn::Sub(word, hn::ShiftLeft<kTop>(quarter)));
  const auto x = hn::Mul(hn::ConvertTo(d, rest), hn::Set(d, C::kTurn));
  const auto xx = Rounded(hn::Mul(x, x));
  const auto s = Rounded(hn::Mul(x, Polynomial(d, xx, C::kSin)));
  const auto c = Polynomial(d, xx, C::kCos);
  const auto one = hn::Set(du, U{1}), two = hn::Set(du, U{2});
  const auto odd = hn::RebindMask(d, hn::TestBit(quarter, one));
  const auto cosine_sign = hn::ShiftLeft<kTop>(hn::And(hn::Add(quarter, one), two));
  const auto sine_sign = hn::ShiftLeft<kTop>(hn::And(quarter, two));
  cosine = hn::Xor(hn::IfThenElse(odd, s, c), hn::BitCast(d, cosine_sign));
  sine = hn::Xor(hn::IfThenElse(odd, c, s), hn::BitCast(d, sine_sign));
}

// Box and Muller: sqrt(-2 ln u) (cos 2 pi v, sin 2 pi v) for u, v from the two halves of a group.
template <class D>
HWY_INLINE void BoxMuller(D d, Bits<D> u, Bits<D> v, hn::Vec<D>& x, hn::Vec<D>& y) {
  const auto log = Log(d, Positive(d, u));
  const auto radius = hn::Sqrt(hn::Neg(hn::Add(log, log)));
  CosSin(d, v, x, y);
  x = hn::Mul(radius, x);
  y = hn::Mul(radius, y);
}

// z with Phi(z) = 1/2 + x (Phi(2) - 1/2) for x in (-1, 1): x P(-ln(1 - (x erf sqrt 2)^2)), where P
// is a minimax polynomial, relative error 2e-8 (float) and 4e-15 (double).
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V TruncatedNormal(D d, V x) {
  const auto t = Rounded(hn::Mul(hn::Mul(x, x), hn::Set(d, static_cast<T>(0.9110697462219214))));
  const auto w = hn::Neg(Log(d, hn::Sub(hn::Set(d, T{1}), t)));
  const auto z = hn::Mul(x, Polynomial(d, w, Constants<T>::kInverse));
  const auto two = hn::Set(d, T{2});
  return hn::Max(hn::Neg(two), hn::Min(z, two));
}

// In place: bits become numbers.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void Transform(D d, Law law, int64_t count, T* data) {
  const hn::RebindToUnsigned<D> du;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t kHalf = kGroupBytes / 2 / sizeof(T);
  auto bits = [&](const T* p) HWY_ATTR { return hn::BitCast(du, hn::LoadU(d, p)); };
  const size_t n = static_cast<size_t>(count) * 2 * kHalf;
  if (law == Law::normal) {
    for (T* group = data; group != data + n; group += 2 * kHalf)
      for (size_t j = 0; j < kHalf; j += lanes) {
        hn::Vec<D> x, y;
        BoxMuller(d, bits(group + j), bits(group + kHalf + j), x, y);
        hn::StoreU(x, d, group + j);
        hn::StoreU(y, d, group + kHalf + j);
      }
  } else if (law == Law::truncated_normal) {
    for (size_t i = 0; i < n; i += lanes)
      hn::StoreU(TruncatedNormal(d, Symmetric(d, bits(data + i))), d, data + i);
  } else if (law == Law::uniform) {
    for (size_t i = 0; i < n; i += lanes) hn::StoreU(Uniform(d, bits(data + i)), d, data + i);
  }
}

// A few groups at a time, so that the bits are still in L1 when they become numbers.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void Generate(D d, Law law, Stream stream, uint64_t first, int64_t count, T* out) {
  constexpr int64_t kStep = 32;
  constexpr int64_t kPerGroup = kGroupBytes / sizeof(T);
  for (int64_t at = 0; at < count; at += kStep) {
    const int64_t n = count - at < kStep ? count - at : kStep;
    T* data = out + at * kPerGroup;
    Fill(stream, first + static_cast<uint64_t>(at), n, reinterpret_cast<uint64_t*>(data));
    Transform(d, law, n, data);
  }
}

void Below32(uint32_t bound, Stream stream, uint64_t first, int64_t count, float* out) {
  const D32 d;
  const hn::RebindToSigned<D32> di;
  constexpr uint32_t kSign = uint32_t{1} << 31;
  const auto sign = hn::Set(di, static_cast<int32_t>(kSign));
  const auto limit = hn::Set(di, static_cast<int32_t>(bound ^ kSign));
  const auto one = hn::Set(d, 1.0f);
  constexpr int64_t kStep = 32, kPerGroup = kGroupBytes / 4;
  for (int64_t at = 0; at < count; at += kStep) {
    const int64_t n = count - at < kStep ? count - at : kStep;
    float* data = out + at * kPerGroup;
    Fill(stream, first + static_cast<uint64_t>(at), n, reinterpret_cast<uint64_t*>(data));
    for (int64_t i = 0; i < n * kPerGroup; i += static_cast<int64_t>(hn::Lanes(d))) {
      const auto word = hn::Xor(hn::BitCast(di, hn::LoadU(d, data + i)), sign);
      hn::StoreU(hn::IfThenElseZero(hn::RebindMask(d, hn::Lt(word, limit)), one), d, data + i);
    }
  }
}

void Generate32(Law law, Stream stream, uint64_t first, int64_t count, float* out) {
  Generate(D32(), law, stream, first, count, out);
}
void Generate64(Law law, Stream stream, uint64_t first, int64_t count, double* out) {
  Generate(D64(), law, stream, first, count, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace horngate::native::kernels::random
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace horngate::native::kernels::random {

HWY_EXPORT(Generate32);
HWY_EXPORT(Generate64);
HWY_EXPORT(Below32);

void generate(Law law, Stream stream, uint64_t first, int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(Generate32)(law, stream, first, count, out);
}
void generate(Law law, Stream stream, uint64_t first, int64_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(Generate64)(law, stream, first, count, out);
}
void generate_below(uint32_t bound, Stream stream, uint64_t first, int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(Below32)(bound, stream, first, count, out);
}
void generate_bits(Stream stream, uint64_t first, int64_t count, uint32_t* out) {
  generate(Law::bits, stream, first, count, reinterpret_cast<float*>(out));
}

}  // namespace horngate::native::kernels::random
#endif  // HWY_ONCE
