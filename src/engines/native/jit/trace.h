// A stand-in for Highway: vectors are numbers of recorded values, and operations record micro code.
// Compiled against it, the math of fused/*-inl.h writes down what it does instead of doing it; so
// compiled loops and block kernels come from one source and give the same bits.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#include "engines/native/jit/micro.h"
#include "hwy/highway.h"

/// Tells the math that it is being traced.
#define HORNGATE_TRACED 1

namespace hwy::N_TRACE {

using horngate::native::jit::Id;
using horngate::native::jit::Isa;
using horngate::native::jit::kNoId;
using horngate::native::jit::Micro;
using horngate::native::jit::MicroOp;
using horngate::native::jit::Recording;

/// Where operations are recorded.
inline thread_local Recording* recording = nullptr;

template <class T>
struct Tag {
  using Lane = T;
};
template <class T>
struct Vector {
  using Lane = T;
  Id id;
};
template <class T>
struct MaskOf {
  Id id;
};

template <class T>
using UnsignedOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template <class D>
using TFromD = typename D::Lane;
template <class V>
using TFromV = typename V::Lane;
template <class D>
using RebindToUnsigned = Tag<UnsignedOf<TFromD<D>>>;
template <class D>
using Vec = Vector<TFromD<D>>;
template <class D>
using Mask = MaskOf<TFromD<D>>;

inline Id record(MicroOp op, Id a, Id b = kNoId, Id c = kNoId) {
  return recording->add({.op = op, .a = a, .b = b, .c = c});
}
inline Id record_imm(MicroOp op, int imm, Id a, Id b = kNoId) {
  return recording->add({.op = op, .imm = static_cast<uint8_t>(imm), .a = a, .b = b});
}

template <class T>
Vector<T> Set(Tag<T>, std::type_identity_t<T> value) {
  UnsignedOf<T> bits;
  std::memcpy(&bits, &value, sizeof bits);
  return {recording->constant(bits)};
}
template <class T>
Vector<T> Zero(Tag<T> d) {
  return Set(d, T(0));
}
template <class T, class U>
Vector<T> BitCast(Tag<T>, Vector<U> v) {
  return {v.id};
}
template <class T, class U>
MaskOf<T> RebindMask(Tag<T>, MaskOf<U> m) {
  return {m.id};
}
template <class T>
Vector<T> SignBit(Tag<T> d) {
  return BitCast(d, Set(Tag<UnsignedOf<T>>(), UnsignedOf<T>(1) << (sizeof(T) * 8 - 1)));
}

#define HORNGATE_TRACE(name, float_op, int_op)                                                  \
  template <class T>                                                                            \
  Vector<T> name(Vector<T> a, Vector<T> b) {                                                    \
    return {                                                                                    \
        record(std::is_floating_point_v<T> ? MicroOp::float_op : MicroOp::int_op, a.id, b.id)}; \
  }
HORNGATE_TRACE(Add, add, int_add)
HORNGATE_TRACE(Sub, sub, int_sub)
HORNGATE_TRACE(Mul, mul, int_mul)
HORNGATE_TRACE(Div, div, div)
HORNGATE_TRACE(Min, min, int_min)
HORNGATE_TRACE(Max, max, int_max)
HORNGATE_TRACE(And, bit_and, bit_and)
HORNGATE_TRACE(Or, bit_or, bit_or)
HORNGATE_TRACE(Xor, bit_xor, bit_xor)
#undef HORNGATE_TRACE

template <class T>
Vector<T> MulAdd(Vector<T> a, Vector<T> b, Vector<T> c) {
  return {record(MicroOp::fmadd, a.id, b.id, c.id)};
}
template <class T>
Vector<T> MulSub(Vector<T> a, Vector<T> b, Vector<T> c) {
  return {record(MicroOp::fmsub, a.id, b.id, c.id)};
}
template <class T>
Vector<T> NegMulAdd(Vector<T> a, Vector<T> b, Vector<T> c) {
  return {record(MicroOp::fnmadd, a.id, b.id, c.id)};
}
template <class T>
Vector<T> Sqrt(Vector<T> a) {
  return {record(MicroOp::sqrt, a.id)};
}
template <class T>
Vector<T> Round(Vector<T> a) {
  return {record(MicroOp::round, a.id)};
}
template <class T>
Vector<T> Floor(Vector<T> a) {
  return {record_imm(MicroOp::round, 1, a.id)};
}
template <class T>
Vector<T> Neg(Vector<T> a) {
  if constexpr (std::is_floating_point_v<T>)
    return Xor(a, SignBit(Tag<T>()));
  else
    return Sub(Zero(Tag<T>()), a);
}
template <class T>
Vector<T> Abs(Vector<T> a) {
  const Tag<UnsignedOf<T>> du;
  if constexpr (std::is_floating_point_v<T>)
    return And(a, BitCast(Tag<T>(), Set(du, ~(UnsignedOf<T>(1) << (sizeof(T) * 8 - 1)))));
  else
    return Max(a, Neg(a));
}
template <class T>
Vector<T> CopySign(Vector<T> magnitude, Vector<T> sign) {
  if (recording->isa == Isa::avx512)
    return {record(MicroOp::copysign, magnitude.id, sign.id, SignBit(Tag<T>()).id)};
  return Or(Abs(magnitude), And(sign, SignBit(Tag<T>())));
}

template <int kBits, class T>
Vector<T> ShiftLeft(Vector<T> a) {
  return {record_imm(MicroOp::shift_left, kBits, a.id)};
}
template <int kBits, class T>
Vector<T> ShiftRight(Vector<T> a) {
  constexpr MicroOp kOp = std::is_signed_v<T> ? MicroOp::shift_right_signed : MicroOp::shift_right;
  return {record_imm(kOp, kBits, a.id)};
}

enum Predicate : int { kEqual = 0x00, kUnordered = 0x03, kLess = 0x11, kLessEqual = 0x12 };

template <class T>
MaskOf<T> Eq(Vector<T> a, Vector<T> b) {
  if constexpr (std::is_floating_point_v<T>)
    return {record_imm(MicroOp::compare, kEqual, a.id, b.id)};
  else
    return {record(MicroOp::int_equal, a.id, b.id)};
}
template <class T>
MaskOf<T> Lt(Vector<T> a, Vector<T> b) {
  if constexpr (std::is_floating_point_v<T>)
    return {record_imm(MicroOp::compare, kLess, a.id, b.id)};
  else
    return {record(MicroOp::int_greater, b.id, a.id)};
}
template <class T>
MaskOf<T> Le(Vector<T> a, Vector<T> b) {
  return {record_imm(MicroOp::compare, kLessEqual, a.id, b.id)};
}
template <class T>
MaskOf<T> Gt(Vector<T> a, Vector<T> b) {
  return Lt(b, a);
}
template <class T>
MaskOf<T> IsNaN(Vector<T> a) {
  return {record_imm(MicroOp::compare, kUnordered, a.id, a.id)};
}
template <class T>
MaskOf<T> Not(MaskOf<T> a) {
  return {record(MicroOp::mask_not, a.id)};
}
template <class T>
MaskOf<T> And(MaskOf<T> a, MaskOf<T> b) {
  return {record(MicroOp::mask_and, a.id, b.id)};
}
template <class T>
MaskOf<T> Or(MaskOf<T> a, MaskOf<T> b) {
  return {record(MicroOp::mask_or, a.id, b.id)};
}
template <class T>
MaskOf<T> Xor(MaskOf<T> a, MaskOf<T> b) {
  return {record(MicroOp::mask_xor, a.id, b.id)};
}
template <class T>
Vector<T> IfThenElse(MaskOf<T> m, Vector<T> yes, Vector<T> no) {
  return {record(MicroOp::blend, m.id, yes.id, no.id)};
}
template <class T>
Vector<T> IfThenElseZero(MaskOf<T> m, Vector<T> yes) {
  return {record(MicroOp::blend_zero, m.id, yes.id)};
}
/// p * 2^n, if there is an instruction for it.
inline bool has_scale() { return recording->isa == Isa::avx512; }
template <class T>
Vector<T> scale(Vector<T> p, Vector<T> n) {
  return {record(MicroOp::scalef, p.id, n.id)};
}
template <class T>
bool AllTrue(Tag<T>, MaskOf<T>) {
  return false;  // both branches are right for all; record the general one
}

}  // namespace hwy::N_TRACE
