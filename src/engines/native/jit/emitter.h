// Emitter: one pass over micro code that assigns registers and writes instructions, through Xbyak.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engines/native/jit/code.h"
#include "engines/native/jit/micro.h"
#include "xbyak/xbyak.h"

namespace horngate::native::jit {

class Emitter : private Xbyak::CodeGenerator {
 public:
  /// `memory`: room for the code.
  Emitter(const Recording& recording, std::span<uint8_t> memory);
  /// False if it needs more registers than there are.
  bool run(Binary& binary);

 private:
  using Address = Xbyak::Address;
  using Operand = Xbyak::Operand;
  using Opmask = Xbyak::Opmask;
  using Reg64 = Xbyak::Reg64;
  using Xmm = Xbyak::Xmm;
  using Ymm = Xbyak::Ymm;
  using Zmm = Xbyak::Zmm;

  /// The last operand of an instruction: a register or memory.
  struct Rm {
    Xmm reg;
    std::optional<Address> memory;
    operator const Operand&() const { return memory ? static_cast<const Operand&>(*memory) : reg; }
  };
  struct Value {
    std::vector<int> uses;  // positions, ascending
    int reg = -1;           // a k register for masks of AVX-512
    int spill = -1;         // slot on the stack
    int32_t pool = -1;      // offset of a constant
    bool pinned = false;    // stays in its register in all iterations
  };

  Value& value(Id v) { return values_[static_cast<size_t>(v)]; }
  bool in_mask_register(Id v) const;
  void pin_constants();
  int next_use(Id v, int after) const;
  /// A whole vector register, or half of one.
  Ymm vec(int reg) const { return avx512_ ? Ymm(Zmm(reg)) : Ymm(reg); }
  Xmm half(int reg) const { return avx512_ ? Xmm(Ymm(reg)) : Xmm(reg); }
  /// Only the lanes of the mask, or all if it is 0.
  template <class T>
  static T masked(T to, int mask, bool zero = false) {
    if (mask) to.setOpmaskIdx(mask);
    if (mask && zero) to.setZero();
    return to;
  }
  Address spilled(Id v) { return ptr[rsp + value(v).spill * vector_bytes_]; }
  Address constant(Id v, bool broadcast);
  Reg64 pointer(uint16_t operand);
  void note_stream(uint16_t operand, DType dtype, bool writes, bool moves);
  Address element(uint16_t operand, DType dtype);
  void fetch(int reg, Id v);

  // Registers. Those that an instruction uses are locked until the next one.
  int take(int position);
  int in_register(Id v, int position);
  Rm anywhere(Id v, int position);
  void release_dead(const Micro& m, int position);
  int define(Id v, int position);
  int define_mask(Id v);
  bool dies(Id v, int position) const {
    return next_use(v, position) == INT32_MAX && !values_[static_cast<size_t>(v)].pinned;
  }

  // Instructions (emit_ops.cpp).
  void one(Id v);
  template <class F>
  void binary(Id v, bool commutes, F write);
  template <class F>
  void unary(Id v, F write);
  template <class F>
  void shift(Id v, F write);
  void fused(Id v);
  void write_fused(MicroOp op, int form, int dst, int a, const Operand& b);
  void copysign(Id v);
  template <class F>
  void compare(Id v, F write);
  template <class K, class F>
  void mask_op(Id v, K write_mask, F write);
  void mask_not(Id v);
  void mask_load(Id v);
  void mask_store(Id v);
  void blend(Id v);
  void blend_zero(Id v);
  void load(Id v);
  void store(Id v);
  void round_half(Id v);
  void move(int to, int from);

  void emit_all();
  void forget_registers();
  void write_loop();
  size_t write_entry();
  void write_pool();

  const Recording& r_;
  const std::vector<Micro> code_;
  const bool avx512_, wide_;
  const int vector_bytes_, lanes_;
  std::vector<Value> values_;
  std::vector<Id> holder_;  // per vector register
  std::vector<bool> locked_;
  /// Lanes of the last vector, AVX-512.
  static constexpr int kRest = 7;
  int rest_ = 0;  // kRest while the code for the last vector is written
  unsigned masks_ = kNoMasks;
  static constexpr unsigned kNoMasks = 1u | 1u << kRest;  // k registers in use; k0 means "no mask"
  int spills_ = 0;
  bool failed_ = false;
  bool scratch_held_ =
      false;  // an operand of this operation is addressed through the scratch register
  std::vector<uint16_t> pointers_;  // operands whose address has a register
  std::vector<Stream> streams_;
  std::vector<uint8_t> pool_;
  Xbyak::Label loop_, last_, constants_;
};

}  // namespace horngate::native::jit
