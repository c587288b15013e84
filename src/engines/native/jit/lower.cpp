#include "engines/native/jit/lower.h"

#include "engines/native/jit/trace.h"
#include "ir/check.h"

// The math of the block kernels, here on traced vectors.
#undef HWY_NAMESPACE
#define HWY_NAMESPACE N_TRACE
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX2
#undef HWY_NATIVE_FMA
#define HWY_NATIVE_FMA 1
#include "engines/native/fused/basic-inl.h"
#include "engines/native/fused/float-inl.h"
#include "engines/native/fused/math-inl.h"

namespace horngate::native::jit {
namespace {

namespace hn = hwy::N_TRACE;
namespace math = fused::N_TRACE;
using fused::Instr;
using fused::Lane;
using fused::Op;

template <class T>
using V = hn::Vector<T>;
template <class T>
using M = hn::MaskOf<T>;

bool is_float_op(Op op) {
  switch (op) {
#define BASIC(op, loop, functor) case Op::op:
#define MATH(op, loop, functor) case Op::op:
#include "engines/native/fused/float_ops.def"
    case Op::round_f16:
    case Op::round_bf16:
    case Op::select: return true;
    default: return is_comparison(op);
  }
}

bool is_int_op(Op op) {
  switch (op) {
    case Op::copy:
    case Op::neg:
    case Op::abs:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::maximum:
    case Op::minimum:
    case Op::wrap_i8:
    case Op::wrap_i16:
    case Op::wrap_u8:
    case Op::wrap_u16:
    case Op::select: return true;
    default: return is_comparison(op);
  }
}

bool is_bool_op(Op op) {
  switch (op) {
    case Op::copy:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::maximum:
    case Op::minimum:
    case Op::logical_not:
    case Op::logical_and:
    case Op::logical_or:
    case Op::eq:
    case Op::ne: return true;
    default: return false;
  }
}

bool can_cast(Lane from, Lane to) {
  if (from == to) return true;
  if (from == Lane::b8) return to == Lane::f32 || to == Lane::f64 || to == Lane::i32;
  if (to == Lane::b8) return from == Lane::f32 || from == Lane::f64 || from == Lane::i32;
  return from == Lane::i32 && to == Lane::f32;
}

template <class T>
Id compare(Op op, V<T> a, V<T> b) {
  const auto less_equal = [](V<T> x, V<T> y) {
    if constexpr (std::is_floating_point_v<T>)
      return hn::Le(x, y);
    else
      return hn::Not(hn::Lt(y, x));
  };
  switch (op) {
    case Op::eq: return hn::Eq(a, b).id;
    case Op::ne: return hn::Not(hn::Eq(a, b)).id;
    case Op::lt: return hn::Lt(a, b).id;
    case Op::le: return less_equal(a, b).id;
    case Op::gt: return hn::Lt(b, a).id;
    default: return less_equal(b, a).id;
  }
}

/// float32 to the bits of the nearest bfloat16, in the upper half.
V<uint32_t> to_bfloat16(V<float> a) {
  const hn::Tag<uint32_t> du;
  const auto bits = hn::BitCast(du, a);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7fffu)), odd);
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(a)), quiet, rounded);
}

/// Records what a functor does with the number of operands it takes.
template <class F, class T>
Id trace(V<T> a, V<T> b, V<T> c) {
  using D = hn::Tag<T>;
  if constexpr (std::is_invocable_v<F, D, V<T>>)
    return F()(D(), a).id;
  else if constexpr (std::is_invocable_v<F, D, V<T>, V<T>>)
    return F()(D(), a, b).id;
  else
    return F()(D(), a, b, c).id;
}

template <class T>
Id lower_float(Op op, Id ia, Id ib, Id ic) {
  const V<T> a = {ia}, b = {ib}, c = {ic};
  switch (op) {
#define BASIC(op, loop, functor) \
  case Op::op: return trace<math::functor>(a, b, c);
#define MATH(op, loop, functor) BASIC(op, loop, functor)
#include "engines/native/fused/float_ops.def"
    case Op::select: return hn::IfThenElse(M<T>{ia}, b, c).id;
    case Op::round_f16: return hn::record(MicroOp::round_half, ia);
    case Op::round_bf16: {
      const auto top = hn::ShiftRight<16>(to_bfloat16(V<float>{ia}));
      return hn::ShiftLeft<16>(top).id;
    }
    default: return compare(op, a, b);
  }
}

Id lower_int(Op op, Id ia, Id ib, Id ic) {
  using T = int32_t;
  const hn::Tag<T> d;
  const V<T> a = {ia}, b = {ib}, c = {ic};
  switch (op) {
    case Op::copy: return ia;
    case Op::neg: return hn::Neg(a).id;
    case Op::abs: return hn::Abs(a).id;
    case Op::add: return hn::Add(a, b).id;
    case Op::sub: return hn::Sub(a, b).id;
    case Op::mul: return hn::Mul(a, b).id;
    case Op::maximum: return hn::Max(a, b).id;
    case Op::minimum: return hn::Min(a, b).id;
    case Op::wrap_i8: return hn::ShiftRight<24>(hn::ShiftLeft<24>(a)).id;
    case Op::wrap_i16: return hn::ShiftRight<16>(hn::ShiftLeft<16>(a)).id;
    case Op::wrap_u8: return hn::And(a, hn::Set(d, 0xff)).id;
    case Op::wrap_u16: return hn::And(a, hn::Set(d, 0xffff)).id;
    case Op::select: return hn::IfThenElse(M<T>{ia}, b, c).id;
    default: return compare(op, a, b);
  }
}

Id lower_bool(Op op, Id ia, Id ib) {
  const M<uint32_t> a = {ia}, b = {ib};
  switch (op) {
    case Op::copy: return ia;
    case Op::logical_not: return hn::Not(a).id;
    case Op::add:
    case Op::maximum:
    case Op::logical_or: return hn::Or(a, b).id;
    case Op::mul:
    case Op::minimum:
    case Op::logical_and: return hn::And(a, b).id;
    case Op::eq: return hn::Not(hn::Xor(a, b)).id;
    default: return hn::Xor(a, b).id;
  }
}

template <class T>
Id to_bool(Id a) {
  return hn::Not(hn::Eq(V<T>{a}, hn::Zero(hn::Tag<T>()))).id;
}
template <class T>
Id from_bool(Id a) {
  return hn::IfThenElseZero(M<T>{a}, hn::Set(hn::Tag<T>(), T(1))).id;
}

Id lower_cast(Lane from, Lane to, Id a) {
  if (from == to) return a;
  if (from == Lane::b8)
    return to == Lane::f32   ? from_bool<float>(a)
           : to == Lane::f64 ? from_bool<double>(a)
                             : from_bool<int32_t>(a);
  if (to == Lane::b8)
    return from == Lane::f32   ? to_bool<float>(a)
           : from == Lane::f64 ? to_bool<double>(a)
                               : to_bool<int32_t>(a);
  return hn::record(MicroOp::int_to_float, a);
}

}  // namespace

int width_of(Lane lane) {
  switch (lane) {
    case Lane::f32:
    case Lane::i32: return 4;
    case Lane::f64: return 8;
    default: return 0;
  }
}

bool can_lower(const Instr& i) {
  if (i.op == Op::cast) return can_cast(i.lane, i.out);
  switch (i.lane) {
    case Lane::f32:
    case Lane::f64: return is_float_op(i.op);
    case Lane::i32: return is_int_op(i.op);
    case Lane::b8: return is_bool_op(i.op);
    default: return false;
  }
}

bool can_load(DType t) {
  switch (t) {
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
    case DType::float64:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::uint8:
    case DType::uint16:
    case DType::bool_: return true;
    default: return false;
  }
}

bool can_store(DType t, Isa isa, int width) {
  switch (t) {
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
    case DType::float64:
    case DType::int32: return true;
    case DType::bool_: return isa == Isa::avx512 || width == 4;
    default: return false;
  }
}

Id lower_constant(Recording& r, Lane lane, uint64_t bits) {
  hn::recording = &r;
  const Id id = r.constant(bits);
  if (lane != Lane::b8) return id;
  return r.width == 4 ? to_bool<int32_t>(id) : to_bool<double>(r.constant(bits << 54));
}

Id lower_load(Recording& r, DType dtype, uint16_t operand) {
  hn::recording = &r;
  const MicroOp op = dtype == DType::bool_ ? MicroOp::mask_load : MicroOp::load;
  const Id id = r.add({.op = op, .operand = operand, .dtype = dtype});
  if (dtype == DType::bfloat16) return hn::ShiftLeft<16>(V<uint32_t>{id}).id;
  return id;
}

Id lower_uniform(Recording& r, Lane lane, uint16_t operand, bool repeated) {
  const DType dtype = fused::dtype_of(lane);
  if (lane == Lane::b8)
    return r.add({.op = MicroOp::mask_load, .imm = 1, .operand = operand, .dtype = dtype});
  return r.add({.op = MicroOp::uniform, .imm = repeated, .operand = operand, .dtype = dtype});
}

Id lower(Recording& r, const Instr& i, Id a, Id b, Id c) {
  hn::recording = &r;
  if (i.op == Op::cast) return lower_cast(i.lane, i.out, a);
  switch (i.lane) {
    case Lane::f32: return lower_float<float>(i.op, a, b, c);
    case Lane::f64: return lower_float<double>(i.op, a, b, c);
    case Lane::i32: return lower_int(i.op, a, b, c);
    default: return lower_bool(i.op, a, b);
  }
}

void lower_store(Recording& r, DType dtype, uint16_t operand, Id value) {
  hn::recording = &r;
  if (dtype == DType::bfloat16) value = hn::ShiftRight<16>(to_bfloat16(V<float>{value})).id;
  const MicroOp op = dtype == DType::bool_ ? MicroOp::mask_store : MicroOp::store;
  r.add({.op = op, .operand = operand, .dtype = dtype, .a = value});
}

}  // namespace horngate::native::jit
