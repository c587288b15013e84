// Emitter, second part: the instructions of each micro operation.
#include <utility>

#include "engines/native/jit/emitter.h"

namespace horngate::native::jit {

template <class F>
void Emitter::binary(Id v, bool commutes, F write) {
  const Micro& m = code_[static_cast<size_t>(v)];
  Id a = m.a, b = m.b;
  if (commutes && value(a).reg < 0 && value(b).reg >= 0) std::swap(a, b);
  if (value(b).reg >= 0) locked_[static_cast<size_t>(value(b).reg)] = true;
  const int ra = in_register(a, v);
  const Rm rb = anywhere(b, v);
  release_dead(m, v);
  write(vec(define(v, v)), vec(ra), rb);
}

template <class F>
void Emitter::unary(Id v, F write) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const Rm ra = anywhere(m.a, v);
  release_dead(m, v);
  write(vec(define(v, v)), ra);
}

template <class F>
void Emitter::shift(Id v, F write) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const Ymm from = vec(in_register(m.a, v));
  release_dead(m, v);
  write(vec(define(v, v)), from, m.imm);
}

void Emitter::move(int to, int from) { vmovaps(vec(to), vec(from)); }

/// form: which operands are multiplied and which is added (132, 213 or 231); the first one is overwritten.
void Emitter::write_fused(MicroOp op, int form, int dst, int a, const Operand& b) {
  const Ymm d = vec(dst), x = vec(a);
#define HORNGATE_FORM(number)                                                   \
  if (form == number) {                                                         \
    if (op == MicroOp::fmadd)                                                   \
      return wide_ ? vfmadd##number##pd(d, x, b) : vfmadd##number##ps(d, x, b); \
    if (op == MicroOp::fmsub)                                                   \
      return wide_ ? vfmsub##number##pd(d, x, b) : vfmsub##number##ps(d, x, b); \
    return wide_ ? vfnmadd##number##pd(d, x, b) : vfnmadd##number##ps(d, x, b); \
  }
  HORNGATE_FORM(132)
  HORNGATE_FORM(213)
  HORNGATE_FORM(231)
#undef HORNGATE_FORM
}

// a * b + c in one of its three forms: the result overwrites the addend (231), or a factor, with the other
// factor (213) or the addend (132) in a register.
void Emitter::fused(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  Id a = m.a, b = m.b;
  const Id c = m.c;
  for (Id operand : {a, b, c})
    if (value(operand).reg >= 0) locked_[static_cast<size_t>(value(operand).reg)] = true;
  const auto replaceable = [&](Id operand) { return value(operand).reg >= 0 && dies(operand, v); };
  const bool square_sum = a == c || b == c;
  int dst = -1;
  if (replaceable(c) && !square_sum) {
    if (value(a).reg < 0) std::swap(a, b);
    const int ra = in_register(a, v);
    dst = value(c).reg;
    write_fused(m.op, 231, dst, ra, anywhere(b, v));
  } else if (a != b && !square_sum && (replaceable(a) || replaceable(b))) {
    if (!replaceable(a)) std::swap(a, b);
    dst = value(a).reg;
    if (value(b).reg < 0 && value(c).reg >= 0) {
      write_fused(m.op, 132, dst, value(c).reg, anywhere(b, v));
    } else {
      const int rb = in_register(b, v);
      write_fused(m.op, 213, dst, rb, anywhere(c, v));
    }
  } else {
    // A copy of the addend, best straight from memory. Before b, whose address may need the same register.
    if (value(a).reg < 0) std::swap(a, b);
    const int ra = in_register(a, v);
    dst = take(v);
    if (value(c).reg >= 0)
      move(dst, value(c).reg);
    else
      fetch(dst, c);
    write_fused(m.op, 231, dst, ra, anywhere(b, v));
  }
  release_dead(m, v);
  value(v).reg = dst;
  holder_[static_cast<size_t>(dst)] = v;
}

// Bits of b where the constant c has ones, of a elsewhere.
void Emitter::copysign(Id v) {
  constexpr uint8_t kSelect = 0xd8;
  const Micro& m = code_[static_cast<size_t>(v)];
  const int rb = in_register(m.b, v);
  int dst;
  if (value(m.a).reg >= 0 && dies(m.a, v) && m.a != m.b) {
    dst = value(m.a).reg;
  } else {
    const int ra = in_register(m.a, v);
    dst = take(v);
    move(dst, ra);
  }
  const Rm rc = anywhere(m.c, v);
  wide_ ? vpternlogq(vec(dst), vec(rb), rc, kSelect) : vpternlogd(vec(dst), vec(rb), rc, kSelect);
  release_dead(m, v);
  value(v).reg = dst;
  holder_[static_cast<size_t>(dst)] = v;
}

/// Calls write(result, a, b); the result is a mask register or, with AVX2, a vector.
template <class F>
void Emitter::compare(Id v, F write) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const int ra = in_register(m.a, v);
  const Rm rb = anywhere(m.b, v);
  release_dead(m, v);
  if (avx512_)
    write(Opmask(define_mask(v)), vec(ra), rb);
  else
    write(vec(define(v, v)), vec(ra), rb);
}

template <class K, class F>
void Emitter::mask_op(Id v, K write_mask, F write) {
  if (!avx512_) return binary(v, true, write);
  const Micro& m = code_[static_cast<size_t>(v)];
  const Opmask a(value(m.a).reg), b(value(m.b).reg);
  release_dead(m, v);
  write_mask(Opmask(define_mask(v)), a, b);
}

void Emitter::mask_not(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  if (avx512_) {
    const Opmask a(value(m.a).reg);
    release_dead(m, v);
    return knotw(Opmask(define_mask(v)), a);
  }
  const int ra = in_register(m.a, v);
  const Ymm ones = vec(define(v, v));
  vpcmpeqd(ones, ones, ones);
  vxorps(ones, ones, vec(ra));
  release_dead(m, v);
}

// Bytes 0 or 1 to lanes, then to a mask: by a test, or as 0 - x.
void Emitter::mask_load(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const Address at = m.imm ? ptr[pointer(m.operand)] : element(m.operand, m.dtype);
  const Ymm lanes = vec(take(v));
  const Ymm to = masked(lanes, m.imm ? 0 : rest_, true);
  wide_ ? vpmovzxbq(to, at) : vpmovzxbd(to, at);
  if (avx512_) {
    const Opmask mask(define_mask(v));
    return wide_ ? vptestmq(mask, lanes, lanes) : vptestmd(mask, lanes, lanes);
  }
  const Ymm dst = vec(define(v, v));
  vpxor(dst, dst, dst);
  wide_ ? vpsubq(dst, dst, lanes) : vpsubd(dst, dst, lanes);
}

void Emitter::mask_store(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  if (!avx512_) {  // lanes of 32 bits
    const Ymm mask = vec(in_register(m.a, v));
    const int packed = take(v);
    const Xmm low(packed);
    vpackssdw(vec(packed), mask, mask);
    vpermq(vec(packed), vec(packed), 0x08);
    vpacksswb(low, low, low);
    vpabsb(low, low);
    vmovq(element(m.operand, m.dtype), low);
    return release_dead(m, v);
  }
  const Ymm lanes = vec(take(v));
  const Opmask mask(value(m.a).reg);
  wide_ ? vpmovm2q(lanes, mask) : vpmovm2d(lanes, mask);
  wide_ ? vpsrlq(lanes, lanes, 63) : vpsrld(lanes, lanes, 31);
  const Address to = masked(element(m.operand, m.dtype), rest_);
  wide_ ? vpmovqb(to, lanes) : vpmovdb(to, lanes);
  release_dead(m, v);
}

void Emitter::blend(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const int mask = avx512_ ? value(m.a).reg : in_register(m.a, v);
  if (value(m.b).reg >= 0) locked_[static_cast<size_t>(value(m.b).reg)] = true;
  const Ymm no = vec(in_register(m.c, v));
  const Rm yes = anywhere(m.b, v);
  release_dead(m, v);
  const Ymm dst = vec(define(v, v));
  if (avx512_)
    wide_ ? vblendmpd(masked(dst, mask), no, yes) : vblendmps(masked(dst, mask), no, yes);
  else
    wide_ ? vblendvpd(dst, no, yes, vec(mask)) : vblendvps(dst, no, yes, vec(mask));
}

void Emitter::blend_zero(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const int mask = avx512_ ? value(m.a).reg : in_register(m.a, v);
  const Ymm yes = vec(in_register(m.b, v));
  release_dead(m, v);
  const Ymm dst = vec(define(v, v));
  if (!avx512_) return vandps(dst, vec(mask), yes);
  wide_ ? vmovapd(masked(dst, mask, true), yes) : vmovaps(masked(dst, mask, true), yes);
}

void Emitter::load(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const Address at = element(m.operand, m.dtype);
  const Ymm to = masked(vec(define(v, v)), rest_, true);
  switch (m.dtype) {
    case DType::float16: return vcvtph2ps(to, at);
    case DType::bfloat16:
    case DType::uint16: return vpmovzxwd(to, at);
    case DType::int16: return vpmovsxwd(to, at);
    case DType::uint8: return vpmovzxbd(to, at);
    case DType::int8: return vpmovsxbd(to, at);
    default: return wide_ ? vmovupd(to, at) : vmovups(to, at);
  }
}

void Emitter::store(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const Ymm from = vec(in_register(m.a, v));
  if (m.dtype == DType::bfloat16 && !avx512_) {
    const int packed = take(v);
    vpackusdw(vec(packed), from, from);
    vpermq(vec(packed), vec(packed), 0x08);
    vmovups(element(m.operand, m.dtype), Xmm(packed));
    return release_dead(m, v);
  }
  const Address at = masked(element(m.operand, m.dtype), rest_);
  if (m.dtype == DType::float16)
    vcvtps2ph(at, from, 0);
  else if (m.dtype == DType::bfloat16)
    vpmovdw(at, from);
  else
    wide_ ? vmovupd(at, from) : vmovups(at, from);
  release_dead(m, v);
}

void Emitter::round_half(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const Ymm from = vec(in_register(m.a, v));
  const int dst = define(v, v);
  vcvtps2ph(half(dst), from, 0);
  vcvtph2ps(vec(dst), half(dst));
  release_dead(m, v);
}

// Writes an instruction with three operands: in single or double precision, or on lanes of 32 or 64 bits.
#define HORNGATE_EITHER(narrow, wide)                    \
  [this](const Ymm& d, const Ymm& a, const Operand& b) { \
    if (wide_)                                           \
      wide(d, a, b);                                     \
    else                                                 \
      narrow(d, a, b);                                   \
  }
#define HORNGATE_FLOATS(name) HORNGATE_EITHER(name##ps, name##pd)
#define HORNGATE_ONE(name) HORNGATE_EITHER(name, name)
#define HORNGATE_MASKS(name) \
  [this](const Opmask& d, const Opmask& a, const Opmask& b) { name(d, a, b); }
#define HORNGATE_SHIFT(name) [this](const Ymm& d, const Ymm& a, uint8_t by) { name(d, a, by); }
#define HORNGATE_COMPARE(narrow, wide)                    \
  [this](const auto& d, const Ymm& a, const Operand& b) { \
    if (wide_)                                            \
      wide(d, a, b);                                      \
    else                                                  \
      narrow(d, a, b);                                    \
  }

void Emitter::one(Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  switch (m.op) {
    case MicroOp::constant:
    case MicroOp::uniform: return;
    case MicroOp::load: return load(v);
    case MicroOp::add: return binary(v, true, HORNGATE_FLOATS(vadd));
    case MicroOp::sub: return binary(v, false, HORNGATE_FLOATS(vsub));
    case MicroOp::mul: return binary(v, true, HORNGATE_FLOATS(vmul));
    case MicroOp::div: return binary(v, false, HORNGATE_FLOATS(vdiv));
    case MicroOp::min: return binary(v, false, HORNGATE_FLOATS(vmin));
    case MicroOp::max: return binary(v, false, HORNGATE_FLOATS(vmax));
    case MicroOp::fmadd:
    case MicroOp::fmsub:
    case MicroOp::fnmadd: return fused(v);
    case MicroOp::sqrt:
      return unary(
          v, [this](const Ymm& d, const Operand& a) { wide_ ? vsqrtpd(d, a) : vsqrtps(d, a); });
    case MicroOp::round: {
      const auto how = static_cast<uint8_t>(8 | m.imm);  // 8: ignore inexact results
      return unary(v, [this, how](const Ymm& d, const Operand& a) {
        if (avx512_)
          wide_ ? vrndscalepd(d, a, how) : vrndscaleps(d, a, how);
        else
          wide_ ? vroundpd(d, a, how) : vroundps(d, a, how);
      });
    }
    case MicroOp::scalef: return binary(v, false, HORNGATE_FLOATS(vscalef));
    case MicroOp::copysign: return copysign(v);
    case MicroOp::bit_and: return binary(v, true, HORNGATE_FLOATS(vand));
    case MicroOp::bit_or: return binary(v, true, HORNGATE_FLOATS(vor));
    case MicroOp::bit_xor: return binary(v, true, HORNGATE_FLOATS(vxor));
    case MicroOp::int_add: return binary(v, true, HORNGATE_EITHER(vpaddd, vpaddq));
    case MicroOp::int_sub: return binary(v, false, HORNGATE_EITHER(vpsubd, vpsubq));
    case MicroOp::int_mul: return binary(v, true, HORNGATE_ONE(vpmulld));
    case MicroOp::int_min: return binary(v, true, HORNGATE_ONE(vpminsd));
    case MicroOp::int_max: return binary(v, true, HORNGATE_ONE(vpmaxsd));
    case MicroOp::shift_left:
      return wide_ ? shift(v, HORNGATE_SHIFT(vpsllq)) : shift(v, HORNGATE_SHIFT(vpslld));
    case MicroOp::shift_right:
      return wide_ ? shift(v, HORNGATE_SHIFT(vpsrlq)) : shift(v, HORNGATE_SHIFT(vpsrld));
    case MicroOp::shift_right_signed: return shift(v, HORNGATE_SHIFT(vpsrad));
    case MicroOp::int_to_float:
      return unary(v, [this](const Ymm& d, const Operand& a) { vcvtdq2ps(d, a); });
    case MicroOp::round_half: return round_half(v);
    case MicroOp::compare:
      return compare(v, [this, how = m.imm](const auto& d, const Ymm& a, const Operand& b) {
        wide_ ? vcmppd(d, a, b, how) : vcmpps(d, a, b, how);
      });
    case MicroOp::int_equal: return compare(v, HORNGATE_COMPARE(vpcmpeqd, vpcmpeqq));
    case MicroOp::int_greater: return compare(v, HORNGATE_COMPARE(vpcmpgtd, vpcmpgtq));
    case MicroOp::mask_load: return mask_load(v);
    case MicroOp::mask_and: return mask_op(v, HORNGATE_MASKS(kandw), HORNGATE_FLOATS(vand));
    case MicroOp::mask_or: return mask_op(v, HORNGATE_MASKS(korw), HORNGATE_FLOATS(vor));
    case MicroOp::mask_xor: return mask_op(v, HORNGATE_MASKS(kxorw), HORNGATE_FLOATS(vxor));
    case MicroOp::mask_not: return mask_not(v);
    case MicroOp::blend: return blend(v);
    case MicroOp::blend_zero: return blend_zero(v);
    case MicroOp::store: return store(v);
    case MicroOp::mask_store: return mask_store(v);
  }
}

}  // namespace horngate::native::jit
