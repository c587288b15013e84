// A small assembler of x86-64 vector code: the VEX (AVX2) and EVEX (AVX-512) forms that the JIT
// needs, and a few general instructions for its loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace horngate::native::jit {

/// General registers by their number in the instruction set.
enum Gpr : uint8_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };

/// Instruction sets; both have FMA.
enum class Isa : uint8_t { avx2, avx512 };

/// The last operand of a vector instruction: a register or memory.
struct Rm {
  enum Kind : uint8_t { reg, mem, pool } kind;
  uint8_t number = 0;  // of the vector register, or of the base
  bool indexed = false, broadcast = false;
  uint8_t scale = 0;  // log2, of the index
  Gpr index = rax;
  int32_t displacement = 0;  // pool: offset in the constants

  static Rm of(int r) { return {.kind = reg, .number = static_cast<uint8_t>(r)}; }
  static Rm at(Gpr base, int32_t displacement = 0) {
    return {.kind = mem, .number = base, .displacement = displacement};
  }
  static Rm at(Gpr base, Gpr index, uint8_t scale) {
    return {.kind = mem, .number = base, .indexed = true, .scale = scale, .index = index};
  }
  static Rm constant(int32_t offset, bool broadcast) {
    return {.kind = pool, .broadcast = broadcast, .displacement = offset};
  }
};

/// An opcode with its prefixes. pp: 0 none, 1 = 66, 2 = F3, 3 = F2; map: 1 = 0F, 2 = 0F38, 3 = 0F3A.
struct Opcode {
  uint8_t map, pp, code;
  bool w = false;
};

class Assembler {
 public:
  explicit Assembler(Isa isa) : isa_(isa) {}
  std::vector<uint8_t> code;
  /// Where a 32-bit distance to a constant must be filled in: at `at`, from the instruction's end.
  struct Fixup {
    size_t at, end;
  };
  std::vector<Fixup> fixups;

  /// A vector instruction over whole registers: destination (or /digit) reg, second operand vvvv (0
  /// if there is none), last operand rm. mask: a k register; zero: masked lanes become 0.
  void vector(Opcode op, int reg, int vvvv, const Rm& rm, int imm = -1, int mask = 0,
              bool zero = false);
  /// Forms that exist as VEX only: mask registers, and AVX2's blend. long_vector is the L bit.
  void vex(Opcode op, bool long_vector, int reg, int vvvv, const Rm& rm, int imm = -1);

  void load_pointer(Gpr to, Gpr base, int32_t displacement);  // to = [base + displacement]
  void zero(Gpr r);
  void add(Gpr r, int8_t value);
  void sub_imm32(Gpr r, int32_t value);
  void and_imm8(Gpr r, int8_t value);
  void compare(Gpr a, Gpr b);
  void move(Gpr to, Gpr from);
  void push(Gpr r);
  void pop(Gpr r);
  void test(Gpr r);
  void jump_below(size_t target);  // backwards
  /// Forwards; land() says where to: here, or at an offset from the start of this code.
  size_t jump_zero();
  void land(size_t jump) { land(jump, code.size()); }
  void land(size_t jump, size_t target);
  void leave();
  void vzeroupper();
  void ret();

  Isa isa() const { return isa_; }

 private:
  void byte(unsigned v) { code.push_back(static_cast<uint8_t>(v)); }
  void word32(int32_t v);
  void evex(Opcode op, int reg, int vvvv, const Rm& rm, int mask, bool zero);
  /// `after`: bytes that follow the address.
  void address(int reg, const Rm& rm, size_t after);

  Isa isa_;
};

}  // namespace horngate::native::jit
