// Emitter, second part: the instructions of each micro operation.
#include <utility>

#include "engines/native/jit/emitter.h"

namespace horngate::native::jit {

void Emitter::binary(Id v, Opcode op, bool commutes) {
  const Micro& m = code_[static_cast<size_t>(v)];
  Id a = m.a, b = m.b;
  if (commutes && value(a).reg < 0 && value(b).reg >= 0) std::swap(a, b);
  if (value(b).reg >= 0) locked_[static_cast<size_t>(value(b).reg)] = true;
  const int ra = in_register(a, v);
  const Rm rb = anywhere(b, v);
  release_dead(m, v);
  body_.vector(op, define(v, v), ra, rb);
}

void Emitter::unary(Id v, Opcode op, int imm) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const Rm ra = anywhere(m.a, v);
  release_dead(m, v);
  body_.vector(op, define(v, v), 0, ra, imm);
}

// By an immediate: the destination stands in vvvv, the kind of shift in its place.
void Emitter::shift(Id v, int digit) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const Rm ra = Rm::of(in_register(m.a, v));
  release_dead(m, v);
  body_.vector({1, 1, static_cast<uint8_t>(wide_ ? 0x73 : 0x72), wide_}, digit, define(v, v), ra,
               m.imm);
}

// a * b + c in one of its three forms: the result replaces the addend (231), or a factor with the
// other factor (213) or the addend (132) in a register.
void Emitter::fused(Id v, uint8_t code132) {
  const Micro& m = code_[static_cast<size_t>(v)];
  Id a = m.a, b = m.b;
  const Id c = m.c;
  for (Id operand : {a, b, c})
    if (value(operand).reg >= 0) locked_[static_cast<size_t>(value(operand).reg)] = true;
  const auto replaceable = [&](Id operand) { return value(operand).reg >= 0 && dies(operand, v); };
  const Opcode form132 = {2, 1, code132, wide_};
  const Opcode form213 = {2, 1, static_cast<uint8_t>(code132 + 0x10), wide_};
  const Opcode form231 = {2, 1, static_cast<uint8_t>(code132 + 0x20), wide_};
  const bool square_sum = a == c || b == c;
  int dst = -1;
  if (replaceable(c) && !square_sum) {
    if (value(a).reg < 0) std::swap(a, b);
    const int ra = in_register(a, v);
    const Rm rb = anywhere(b, v);
    dst = value(c).reg;
    body_.vector(form231, dst, ra, rb);
  } else if (a != b && !square_sum && (replaceable(a) || replaceable(b))) {
    if (!replaceable(a)) std::swap(a, b);
    dst = value(a).reg;
    if (value(b).reg < 0 && value(c).reg >= 0) {
      body_.vector(form132, dst, value(c).reg, anywhere(b, v));
    } else {
      const int rb = in_register(b, v);
      body_.vector(form213, dst, rb, anywhere(c, v));
    }
  } else {
    // A copy of the addend, best straight from memory; before b, whose address may need the same register.
    if (value(a).reg < 0) std::swap(a, b);
    const int ra = in_register(a, v);
    dst = take(v);
    if (value(c).reg >= 0)
      body_.vector(float_op(0x28), dst, 0, Rm::of(value(c).reg));
    else
      fetch(body_, dst, c);
    body_.vector(form231, dst, ra, anywhere(b, v));
  }
  release_dead(m, v);
  value(v).reg = dst;
  holder_[static_cast<size_t>(dst)] = v;
}

// Bits of b where the constant c has ones, of a elsewhere.
void Emitter::copysign(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const int rb = in_register(m.b, v);
  int dst;
  if (value(m.a).reg >= 0 && dies(m.a, v) && m.a != m.b) {
    dst = value(m.a).reg;
  } else {
    const int ra = in_register(m.a, v);
    dst = take(v);
    body_.vector(float_op(0x28), dst, 0, Rm::of(ra));
  }
  body_.vector({3, 1, 0x25, wide_}, dst, rb, anywhere(m.c, v), 0xd8);
  release_dead(m, v);
  value(v).reg = dst;
  holder_[static_cast<size_t>(dst)] = v;
}

void Emitter::compare(Id v, Opcode op, int imm) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const int ra = in_register(m.a, v);
  const Rm rb = anywhere(m.b, v);
  release_dead(m, v);
  body_.vector(op, avx512_ ? define_mask(v) : define(v, v), ra, rb, imm);
}

void Emitter::mask_op(Id v, uint8_t k_code, uint8_t vector_code) {
  if (!avx512_) return binary(v, float_op(vector_code), true);
  const Micro& m = code_[static_cast<size_t>(v)];
  const int ra = value(m.a).reg, rb = value(m.b).reg;
  release_dead(m, v);
  body_.vex({1, 0, k_code}, true, define_mask(v), ra, Rm::of(rb));
}

void Emitter::mask_not(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  if (avx512_) {
    const int ra = value(m.a).reg;
    release_dead(m, v);
    return body_.vex({1, 0, 0x44}, false, define_mask(v), 0, Rm::of(ra));
  }
  const int ra = in_register(m.a, v);
  const int ones = define(v, v);
  body_.vector({1, 1, 0x76}, ones, ones, Rm::of(ones));
  body_.vector(float_op(0x57), ones, ones, Rm::of(ra));
  release_dead(m, v);
}

// Bytes 0 or 1 to lanes, then to a mask: by a test, or as 0 - x.
void Emitter::mask_load(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const Rm at = m.imm ? Rm::at(pointer(body_, m.operand)) : element(m.operand, m.dtype);
  const int lanes = take(v);
  body_.vector({2, 1, static_cast<uint8_t>(wide_ ? 0x32 : 0x31)}, lanes, 0, at, -1,
               m.imm ? 0 : rest_, !m.imm && rest_);
  if (avx512_) {
    body_.vector({2, 1, 0x27, wide_}, define_mask(v), lanes, Rm::of(lanes));
    return;
  }
  const int dst = define(v, v);
  body_.vector({1, 1, 0xef}, dst, dst, Rm::of(dst));
  body_.vector({1, 1, static_cast<uint8_t>(wide_ ? 0xfb : 0xfa)}, dst, dst, Rm::of(lanes));
}

void Emitter::mask_store(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  if (!avx512_) {
    const int mask = in_register(m.a, v);
    const int packed = pack_words(mask, 0x6b, v);
    body_.vex({1, 1, 0x63}, false, packed, packed, Rm::of(packed));  // words to bytes, 0 or -1
    body_.vex({2, 1, 0x1c}, false, packed, 0, Rm::of(packed));       // their absolute value
    body_.vex({1, 1, 0xd6}, false, packed, 0, element(m.operand, m.dtype));
    return release_dead(m, v);
  }
  const int lanes = take(v);
  body_.vector({2, 2, 0x38, wide_}, lanes, 0, Rm::of(value(m.a).reg));
  body_.vector({1, 1, static_cast<uint8_t>(wide_ ? 0x73 : 0x72), wide_}, 2, lanes, Rm::of(lanes),
               wide_ ? 63 : 31);
  body_.vector({2, 2, static_cast<uint8_t>(wide_ ? 0x32 : 0x31)}, lanes, 0,
               element(m.operand, m.dtype), -1, rest_);
  release_dead(m, v);
}

// AVX2: eight lanes of 32 bits to 16 bits each, in the lower half of a register.
int Emitter::pack_words(int lanes, uint8_t code, Id v) {
  const int packed = take(v);
  const uint8_t map = code == 0x2b ? 2 : 1;
  body_.vex({map, 1, code}, true, packed, lanes, Rm::of(lanes));
  body_.vex({3, 1, 0x00, true}, true, packed, 0, Rm::of(packed), 0x08);
  return packed;
}

void Emitter::blend(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const int mask = avx512_ ? value(m.a).reg : in_register(m.a, v);
  if (value(m.b).reg >= 0) locked_[static_cast<size_t>(value(m.b).reg)] = true;
  const int no = in_register(m.c, v);
  const Rm yes = anywhere(m.b, v);
  release_dead(m, v);
  if (avx512_)
    body_.vector({2, 1, 0x65, wide_}, define(v, v), no, yes, -1, mask);
  else
    body_.vector({3, 1, static_cast<uint8_t>(wide_ ? 0x4b : 0x4a)}, define(v, v), no, yes,
                 mask << 4);
}

void Emitter::blend_zero(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const int mask = avx512_ ? value(m.a).reg : in_register(m.a, v);
  const int yes = in_register(m.b, v);
  release_dead(m, v);
  if (avx512_)
    body_.vector(float_op(0x28), define(v, v), 0, Rm::of(yes), -1, mask, true);
  else
    body_.vector(float_op(0x54), define(v, v), mask, Rm::of(yes));
}

void Emitter::load(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const Rm at = element(m.operand, m.dtype);
  const int dst = define(v, v);
  const auto from = [&](Opcode op) { body_.vector(op, dst, 0, at, -1, rest_, rest_ != 0); };
  switch (m.dtype) {
    case DType::float16: return from({2, 1, 0x13});
    case DType::bfloat16:
    case DType::uint16: return from({2, 1, 0x33});
    case DType::int16: return from({2, 1, 0x23});
    case DType::uint8: return from({2, 1, 0x31});
    case DType::int8: return from({2, 1, 0x21});
    default: return from(float_op(0x10));
  }
}

void Emitter::store(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const int src = in_register(m.a, v);
  if (m.dtype == DType::bfloat16 && !avx512_) {
    const int packed = pack_words(src, 0x2b, v);
    body_.vex({1, 0, 0x11}, false, packed, 0, element(m.operand, m.dtype));
    return release_dead(m, v);
  }
  const Rm at = element(m.operand, m.dtype);
  if (m.dtype == DType::float16)
    body_.vector({3, 1, 0x1d}, src, 0, at, 0, rest_);
  else if (m.dtype == DType::bfloat16)
    body_.vector({2, 2, 0x33}, src, 0, at, -1, rest_);
  else
    body_.vector(float_op(0x11), src, 0, at, -1, rest_);
  release_dead(m, v);
}

void Emitter::round_half(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const int ra = in_register(m.a, v);
  const int dst = define(v, v);
  body_.vector({3, 1, 0x1d}, ra, 0, Rm::of(dst), 0);
  body_.vector({2, 1, 0x13}, dst, 0, Rm::of(dst));
  release_dead(m, v);
}

void Emitter::one(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const auto int_op = [this](uint8_t narrow, uint8_t wide) {
    return Opcode{1, 1, wide_ ? wide : narrow, wide_};
  };
  switch (m.op) {
    case MicroOp::constant:
    case MicroOp::uniform: return;
    case MicroOp::load: return load(v);
    case MicroOp::add: return binary(v, float_op(0x58), true);
    case MicroOp::sub: return binary(v, float_op(0x5c), false);
    case MicroOp::mul: return binary(v, float_op(0x59), true);
    case MicroOp::div: return binary(v, float_op(0x5e), false);
    case MicroOp::min: return binary(v, float_op(0x5d), false);
    case MicroOp::max: return binary(v, float_op(0x5f), false);
    case MicroOp::fmadd: return fused(v, 0x98);
    case MicroOp::fmsub: return fused(v, 0x9a);
    case MicroOp::fnmadd: return fused(v, 0x9c);
    case MicroOp::sqrt: return unary(v, float_op(0x51));
    case MicroOp::round:
      return unary(v, {3, 1, static_cast<uint8_t>(wide_ ? 0x09 : 0x08), wide_}, 8 | m.imm);
    case MicroOp::scalef: return binary(v, {2, 1, 0x2c, wide_}, false);
    case MicroOp::copysign: return copysign(v);
    case MicroOp::bit_and: return binary(v, float_op(0x54), true);
    case MicroOp::bit_or: return binary(v, float_op(0x56), true);
    case MicroOp::bit_xor: return binary(v, float_op(0x57), true);
    case MicroOp::int_add: return binary(v, int_op(0xfe, 0xd4), true);
    case MicroOp::int_sub: return binary(v, int_op(0xfa, 0xfb), false);
    case MicroOp::int_mul: return binary(v, {2, 1, 0x40}, true);
    case MicroOp::int_min: return binary(v, {2, 1, 0x39}, true);
    case MicroOp::int_max: return binary(v, {2, 1, 0x3d}, true);
    case MicroOp::shift_left: return shift(v, 6);
    case MicroOp::shift_right: return shift(v, 2);
    case MicroOp::shift_right_signed: return shift(v, 4);
    case MicroOp::int_to_float: return unary(v, {1, 0, 0x5b});
    case MicroOp::round_half: return round_half(v);
    case MicroOp::compare: return compare(v, float_op(0xc2), m.imm);
    case MicroOp::int_equal:
      return compare(v, wide_ ? Opcode{2, 1, 0x29, true} : Opcode{1, 1, 0x76}, -1);
    case MicroOp::int_greater:
      return compare(v, wide_ ? Opcode{2, 1, 0x37, true} : Opcode{1, 1, 0x66}, -1);
    case MicroOp::mask_load: return mask_load(v);
    case MicroOp::mask_and: return mask_op(v, 0x41, 0x54);
    case MicroOp::mask_or: return mask_op(v, 0x45, 0x56);
    case MicroOp::mask_xor: return mask_op(v, 0x47, 0x57);
    case MicroOp::mask_not: return mask_not(v);
    case MicroOp::blend: return blend(v);
    case MicroOp::blend_zero: return blend_zero(v);
    case MicroOp::store: return store(v);
    case MicroOp::mask_store: return mask_store(v);
  }
}

}  // namespace horngate::native::jit
