// Contiguous loads of stored types into lanes, and stores. The half types round to nearest even.
#include "engines/native/fused/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/fused/ops_load_store.cpp"
#include "hwy/foreach_target.h"

#include "engines/native/fused/basic-inl.h"
#include "engines/native/fused/convert-inl.h"
#include "engines/native/fused/simd.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace {

struct Promote {
  template <class D, class V>
  HWY_INLINE auto operator()(D to, V a) const {
    return hn::PromoteTo(to, a);
  }
};
struct Truncate {
  template <class D, class V>
  HWY_INLINE auto operator()(D to, V a) const {
    return hn::TruncateTo(to, a);
  }
};

struct FromBfloat16 {
  template <class D, class V>
  HWY_INLINE auto operator()(D to, V a) const {
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(to, hn::ShiftLeft<16>(hn::PromoteTo(du, a)));
  }
};
struct ToBfloat16 {
  template <class D, class V>
  HWY_INLINE auto operator()(D to, V a) const {
    const hn::Rebind<float, D> df;
    const hn::RebindToUnsigned<decltype(df)> du;
    const auto bits = hn::BitCast(du, a);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7fffu)), odd);
    const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
    const auto is_nan = hn::RebindMask(du, hn::IsNaN(a));
    return hn::TruncateTo(to, hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, rounded)));
  }
};

struct RoundBfloat16 {
  template <class D, class V>
  HWY_INLINE auto operator()(D d, V a) const {
    return FromBfloat16()(d, ToBfloat16()(hn::Rebind<uint16_t, D>(), a));
  }
};

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
struct FromFloat16 {
  template <class D, class V>
  HWY_INLINE auto operator()(D to, V a) const {
    return hn::PromoteTo(to, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), a));
  }
};
struct ToFloat16 {
  template <class D, class V>
  HWY_INLINE auto operator()(D to, V a) const {
    return hn::BitCast(to, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), a));
  }
};
struct RoundFloat16 {
  template <class D, class V>
  HWY_INLINE auto operator()(D d, V a) const {
    return hn::PromoteTo(d, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), a));
  }
};
constexpr Kernel kRoundFloat16 = convert_kernel<float, float, RoundFloat16>;
constexpr Kernel kLoadFloat16 = convert_kernel<uint16_t, float, FromFloat16>;
constexpr Kernel kStoreFloat16 = convert_kernel<float, uint16_t, ToFloat16>;
#else
struct FromFloat16 {
  float operator()(uint16_t x) const { return to_float(float16_t{x}); }
};
struct ToFloat16 {
  uint16_t operator()(float x) const { return to_float16(x).bits; }
};
struct RoundFloat16 {
  float operator()(float x) const { return to_float(to_float16(x)); }
};
constexpr Kernel kRoundFloat16 = scalar_convert_kernel<float, float, RoundFloat16>;
constexpr Kernel kLoadFloat16 = scalar_convert_kernel<uint16_t, float, FromFloat16>;
constexpr Kernel kStoreFloat16 = scalar_convert_kernel<float, uint16_t, ToFloat16>;
#endif

}  // namespace

void fill_load_store(Kernels& k) {
  const auto set = [&k](DType t, Kernel load, Kernel store) {
    k.load[static_cast<int>(t)] = load;
    k.store[static_cast<int>(t)] = store;
  };
  constexpr Kernel copy1 = unary_kernel<uint8_t, Copy>;
  constexpr Kernel copy4 = short_unary_kernel<uint32_t, Copy>;
  constexpr Kernel copy8 = short_unary_kernel<uint64_t, Copy>;
  constexpr Kernel narrow1 = convert_kernel<uint32_t, uint8_t, Truncate>;
  constexpr Kernel narrow2 = convert_kernel<uint32_t, uint16_t, Truncate>;
  set(DType::float16, kLoadFloat16, kStoreFloat16);
  set(DType::bfloat16, convert_kernel<uint16_t, float, FromBfloat16>,
      convert_kernel<float, uint16_t, ToBfloat16>);
  set(DType::float32, copy4, copy4);
  set(DType::float64, copy8, copy8);
  set(DType::int8, convert_kernel<int8_t, int32_t, Promote>, narrow1);
  set(DType::int16, convert_kernel<int16_t, int32_t, Promote>, narrow2);
  set(DType::int32, copy4, copy4);
  set(DType::int64, copy8, copy8);
  set(DType::uint8, convert_kernel<uint8_t, uint32_t, Promote>, narrow1);
  set(DType::uint16, convert_kernel<uint16_t, uint32_t, Promote>, narrow2);
  set(DType::uint32, convert_kernel<uint32_t, uint64_t, Promote>,
      convert_kernel<uint64_t, uint32_t, Truncate>);
  set(DType::uint64, copy8, copy8);
  set(DType::bool_, copy1, copy1);
  k.set(Op::round_f16, Lane::f32, kRoundFloat16);
  k.set(Op::round_bf16, Lane::f32, convert_kernel<float, float, RoundBfloat16>);
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#define HORNGATE_FILL fill_load_store
#include "engines/native/fused/fill-inl.h"
#endif
