// Arithmetic of integer and bool lanes. Integers wrap around; bool adds as `or` and multiplies as
// `and`.
#include "engines/native/fused/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/fused/ops_int.cpp"
#include "hwy/foreach_target.h"

#include "engines/native/fused/basic-inl.h"
#include "engines/native/fused/loop-inl.h"
#include "engines/native/fused/scalar_math.h"
#include "engines/native/fused/simd.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace {

HORNGATE_UNARY(Neg, hn::Sub(hn::Zero(d), a))
HORNGATE_UNARY(WrapI8, hn::ShiftRight<24>(hn::ShiftLeft<24>(a)))
HORNGATE_UNARY(WrapI16, hn::ShiftRight<16>(hn::ShiftLeft<16>(a)))
HORNGATE_UNARY(WrapU8, hn::And(a, hn::Set(d, 0xff)))
HORNGATE_UNARY(WrapU16, hn::And(a, hn::Set(d, 0xffff)))
HORNGATE_UNARY(WrapU32, hn::And(a, hn::Set(d, int64_t(0xffffffff))))
HORNGATE_BINARY(Or, hn::Or(a, b))
HORNGATE_BINARY(And, hn::And(a, b))
HORNGATE_BINARY(Xor, hn::Xor(a, b))
HORNGATE_UNARY(Not, hn::Xor(a, hn::Set(d, uint8_t(1))))

struct Abs {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a) const {
    if constexpr (hwy::IsSigned<hn::TFromV<V>>())
      return hn::Abs(a);
    else
      return a;
  }
};

struct Sign {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    const V zero = hn::Zero(d), one = hn::Set(d, T(1));
    if constexpr (hwy::IsSigned<T>())
      return hn::Sub(hn::IfThenElseZero(hn::Gt(a, zero), one),
                     hn::IfThenElseZero(hn::Lt(a, zero), one));
    else
      return hn::IfThenElseZero(hn::Ne(a, zero), one);
  }
};

#define HORNGATE_SCALAR(name, function) \
  struct name {                         \
    template <class T>                  \
    T operator()(T a, T b) const {      \
      return scalar::function(a, b);    \
    }                                   \
  };
HORNGATE_SCALAR(Div, div)
HORNGATE_SCALAR(FloorDiv, floordiv)
HORNGATE_SCALAR(Mod, mod)
HORNGATE_SCALAR(Pow, pow)
#undef HORNGATE_SCALAR

template <class T>
void fill(Kernels& k, Lane lane) {
  k.set(Op::copy, lane, short_unary_kernel<T, Copy>);
  k.set(Op::neg, lane, short_unary_kernel<T, Neg>);
  k.set(Op::abs, lane, short_unary_kernel<T, Abs>);
  k.set(Op::sign, lane, unary_kernel<T, Sign>);
  k.set(Op::add, lane, short_binary_kernel<T, Add>);
  k.set(Op::sub, lane, short_binary_kernel<T, Sub>);
  k.set(Op::mul, lane, binary_kernel<T, Mul>);
  k.set(Op::maximum, lane, short_binary_kernel<T, Maximum>);
  k.set(Op::minimum, lane, short_binary_kernel<T, Minimum>);
  k.set(Op::div, lane, scalar_kernel<T, Div>);
  k.set(Op::floordiv, lane, scalar_kernel<T, FloorDiv>);
  k.set(Op::mod, lane, scalar_kernel<T, Mod>);
  k.set(Op::pow, lane, scalar_kernel<T, Pow>);
}

}  // namespace

void fill_int(Kernels& k) {
  fill<int32_t>(k, Lane::i32);
  fill<int64_t>(k, Lane::i64);
  fill<uint64_t>(k, Lane::u64);
  k.set(Op::wrap_i8, Lane::i32, short_unary_kernel<int32_t, WrapI8>);
  k.set(Op::wrap_i16, Lane::i32, short_unary_kernel<int32_t, WrapI16>);
  k.set(Op::wrap_u8, Lane::i32, short_unary_kernel<int32_t, WrapU8>);
  k.set(Op::wrap_u16, Lane::i32, short_unary_kernel<int32_t, WrapU16>);
  k.set(Op::wrap_u32, Lane::i64, short_unary_kernel<int64_t, WrapU32>);
  k.set(Op::copy, Lane::b8, unary_kernel<uint8_t, Copy>);
  k.set(Op::add, Lane::b8, binary_kernel<uint8_t, Or>);
  k.set(Op::sub, Lane::b8, binary_kernel<uint8_t, Xor>);
  k.set(Op::mul, Lane::b8, binary_kernel<uint8_t, And>);
  k.set(Op::maximum, Lane::b8, binary_kernel<uint8_t, Or>);
  k.set(Op::minimum, Lane::b8, binary_kernel<uint8_t, And>);
  k.set(Op::logical_or, Lane::b8, binary_kernel<uint8_t, Or>);
  k.set(Op::logical_and, Lane::b8, binary_kernel<uint8_t, And>);
  k.set(Op::logical_not, Lane::b8, unary_kernel<uint8_t, Not>);
  k.set(Op::ne, Lane::b8, binary_kernel<uint8_t, Xor>);
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#define HORNGATE_FILL fill_int
#include "engines/native/fused/fill-inl.h"
#endif
