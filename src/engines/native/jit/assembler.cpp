#include "engines/native/jit/assembler.h"

namespace horngate::native::jit {

void Assembler::word32(int32_t v) {
  for (int i = 0; i < 4; ++i) byte(static_cast<unsigned>(v) >> (8 * i) & 0xff);
}

void Assembler::address(int reg, const Rm& rm, size_t after) {
  const unsigned r = static_cast<unsigned>(reg & 7) << 3;
  const unsigned base = rm.number & 7u;
  if (rm.kind == Rm::reg) return byte(0xc0 | r | base);
  if (rm.kind == Rm::pool) {  // relative to the next instruction
    byte(r | 5);
    fixups.push_back({code.size(), code.size() + 4 + after});
    return word32(rm.displacement);
  }
  // Without a displacement, base 5 would mean none; EVEX scales short ones, so it is always long.
  const bool far = rm.displacement != 0 || base == 5;
  const unsigned mod = far ? 0x80 : 0;
  if (rm.indexed) {
    byte(mod | r | 4);
    byte(static_cast<unsigned>(rm.scale) << 6 | (rm.index & 7u) << 3 | base);
  } else {
    byte(mod | r | base);
    if (base == 4) byte(0x24);
  }
  if (far) word32(rm.displacement);
}

void Assembler::vex(Opcode op, bool long_vector, int reg, int vvvv, const Rm& rm, int imm) {
  const bool index_high = rm.kind == Rm::mem && rm.indexed && rm.index >= 8;
  const bool base_high = rm.kind != Rm::pool && (rm.number & 8);
  byte(0xc4);
  byte((reg & 8 ? 0 : 0x80) | (index_high ? 0 : 0x40) | (base_high ? 0 : 0x20) | op.map);
  byte((op.w ? 0x80 : 0) | (~static_cast<unsigned>(vvvv) & 15) << 3 | (long_vector ? 4 : 0) |
       op.pp);
  byte(op.code);
  address(reg, rm, imm >= 0);
  if (imm >= 0) byte(static_cast<unsigned>(imm));
}

void Assembler::evex(Opcode op, int reg, int vvvv, const Rm& rm, int mask, bool zero) {
  bool x_high = rm.kind == Rm::mem && rm.indexed && rm.index >= 8;
  const bool b_high = rm.kind != Rm::pool && (rm.number & 8);
  if (rm.kind == Rm::reg) x_high = rm.number & 16;
  byte(0x62);
  byte((reg & 8 ? 0 : 0x80) | (x_high ? 0 : 0x40) | (b_high ? 0 : 0x20) | (reg & 16 ? 0 : 0x10) |
       op.map);
  byte((op.w ? 0x80 : 0) | (~static_cast<unsigned>(vvvv) & 15) << 3 | 4 | op.pp);
  byte((zero ? 0x80 : 0) | 0x40 | (rm.broadcast ? 0x10 : 0) | (vvvv & 16 ? 0 : 8) |
       static_cast<unsigned>(mask));
  byte(op.code);
}

void Assembler::vector(Opcode op, int reg, int vvvv, const Rm& rm, int imm, int mask, bool zero) {
  if (isa_ == Isa::avx2) return vex(op, true, reg, vvvv, rm, imm);
  evex(op, reg, vvvv, rm, mask, zero);
  address(reg, rm, imm >= 0);
  if (imm >= 0) byte(static_cast<unsigned>(imm));
}

void Assembler::load_pointer(Gpr to, Gpr base, int32_t displacement) {
  byte(0x48 | (to >= 8 ? 4 : 0) | (base >= 8 ? 1 : 0));
  byte(0x8b);
  address(to, Rm::at(base, displacement), 0);
}
void Assembler::zero(Gpr r) {
  byte(0x40 | (r >= 8 ? 5 : 0));
  byte(0x31);
  byte(0xc0 | (r & 7u) << 3 | (r & 7u));
}
void Assembler::add(Gpr r, int8_t value) {
  byte(0x48 | (r >= 8 ? 1 : 0));
  byte(0x83);
  byte(0xc0 | (r & 7u));
  byte(static_cast<uint8_t>(value));
}
void Assembler::sub_imm32(Gpr r, int32_t value) {
  byte(0x48 | (r >= 8 ? 1 : 0));
  byte(0x81);
  byte(0xe8 | (r & 7u));
  word32(value);
}
void Assembler::and_imm8(Gpr r, int8_t value) {
  byte(0x48 | (r >= 8 ? 1 : 0));
  byte(0x83);
  byte(0xe0 | (r & 7u));
  byte(static_cast<uint8_t>(value));
}
void Assembler::compare(Gpr a, Gpr b) {
  byte(0x48 | (b >= 8 ? 4 : 0) | (a >= 8 ? 1 : 0));
  byte(0x39);
  byte(0xc0 | (b & 7u) << 3 | (a & 7u));
}
void Assembler::move(Gpr to, Gpr from) {
  byte(0x48 | (from >= 8 ? 4 : 0) | (to >= 8 ? 1 : 0));
  byte(0x89);
  byte(0xc0 | (from & 7u) << 3 | (to & 7u));
}
void Assembler::push(Gpr r) {
  if (r >= 8) byte(0x41);
  byte(0x50 | (r & 7u));
}
void Assembler::pop(Gpr r) {
  if (r >= 8) byte(0x41);
  byte(0x58 | (r & 7u));
}
void Assembler::jump_below(size_t target) {
  byte(0x0f);
  byte(0x82);
  word32(
      static_cast<int32_t>(static_cast<int64_t>(target) - static_cast<int64_t>(code.size()) - 4));
}
void Assembler::test(Gpr r) {
  byte(0x48 | (r >= 8 ? 5 : 0));
  byte(0x85);
  byte(0xc0 | (r & 7u) << 3 | (r & 7u));
}
size_t Assembler::jump_zero() {
  byte(0x0f);
  byte(0x84);
  word32(0);
  return code.size();
}
void Assembler::land(size_t jump, size_t target) {
  const auto distance = static_cast<uint32_t>(target - jump);
  for (size_t i = 0; i < 4; ++i) code[jump - 4 + i] = static_cast<uint8_t>(distance >> (8 * i));
}
void Assembler::leave() { byte(0xc9); }
void Assembler::vzeroupper() {
  byte(0xc5);
  byte(0xf8);
  byte(0x77);
}
void Assembler::ret() { byte(0xc3); }

}  // namespace horngate::native::jit
