// Emitter: one pass over micro code that assigns registers and writes instructions.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "engines/native/jit/assembler.h"
#include "engines/native/jit/code.h"
#include "engines/native/jit/micro.h"

namespace horngate::native::jit {

class Emitter {
 public:
  explicit Emitter(const Recording& recording);
  Binary run();

 private:
  struct Value {
    std::vector<int> uses;  // positions, ascending
    int reg = -1;           // a k register for masks of AVX-512
    int spill = -1;         // slot on the stack
    int32_t pool = -1;      // offset of a constant
    bool pinned = false;    // in its register in all iterations
  };

  Value& value(Id v) { return values_[static_cast<size_t>(v)]; }
  bool in_mask_register(Id v) const;
  void pin_constants();
  int next_use(Id v, int after) const;
  Opcode float_op(uint8_t code) const;  // ps or pd
  int32_t pool_offset(Id v);
  Gpr pointer(Assembler& a, uint16_t operand);
  void note_stream(uint16_t operand, DType dtype, bool writes, bool moves);
  Rm element(uint16_t operand, DType dtype);
  void fetch(Assembler& a, int reg, Id v);

  // Registers. What an instruction uses is locked until the next one.
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
  void binary(Id v, Opcode op, bool commutes);
  void unary(Id v, Opcode op, int imm = -1);
  void shift(Id v, int digit);
  void fused(Id v, uint8_t code132);
  void copysign(Id v);
  void compare(Id v, Opcode op, int imm);
  void mask_op(Id v, uint8_t k_code, uint8_t vector_code);
  void mask_not(Id v);
  void mask_load(Id v);
  void mask_store(Id v);
  int pack_words(int lanes, uint8_t code, Id v);
  void blend(Id v);
  void blend_zero(Id v);
  void load(Id v);
  void store(Id v);
  void round_half(Id v);

  void emit_all();
  void forget_registers();
  Binary assemble();

  const Recording& r_;
  const std::vector<Micro> code_;
  Assembler body_;
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
};

}  // namespace horngate::native::jit
