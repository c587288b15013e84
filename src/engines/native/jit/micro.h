// Micro code: what happens to one vector of elements, in operations of about one machine
// instruction each. Values are numbered in order; equal operations are recorded once.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "horngate/dtype.h"

namespace horngate::native::jit {

/// Instruction sets; both have FMA.
enum class Isa : uint8_t { avx2, avx512 };

enum class MicroOp : uint8_t {
  constant,  // bits in every lane
  uniform,   // one value at an operand; imm: repeated in 64 bytes
  load,      // the next elements at an operand, as lanes
  // floats
  add,
  sub,
  mul,
  div,
  min,  // the second operand if one is NaN, like max
  max,
  fmadd,   // a * b + c
  fmsub,   // a * b - c
  fnmadd,  // c - a * b
  sqrt,
  round,   // imm: 0 nearest even, 1 down
  scalef,  // a * 2^b (AVX-512)
  copysign,
  // bits and integers of the lane's width
  bit_and,
  bit_or,
  bit_xor,
  int_add,
  int_sub,
  int_mul,  // 32 bits
  int_min,
  int_max,
  shift_left,  // by imm
  shift_right,
  shift_right_signed,
  int_to_float,
  round_half,  // to float16 and back
  // masks
  compare,  // floats, imm is the predicate of vcmpps
  int_equal,
  int_greater,
  mask_load,  // bools at an operand
  mask_and,
  mask_or,
  mask_xor,
  mask_not,
  blend,       // a ? b : c
  blend_zero,  // a ? b : 0
  // effects, at the end
  store,
  mask_store,
};

using Id = int32_t;
inline constexpr Id kNoId = -1;

struct Micro {
  MicroOp op;
  uint8_t imm = 0;
  uint16_t operand = 0;          // of memory
  DType dtype = DType::float32;  // as stored
  Id a = kNoId, b = kNoId, c = kNoId;
  uint64_t bits = 0;  // of a constant
  bool operator==(const Micro&) const = default;
};

constexpr bool gives_mask(MicroOp op) { return op >= MicroOp::compare && op <= MicroOp::mask_not; }

/// Records micro code for lanes of `width` bytes.
class Recording {
 public:
  Recording(Isa isa, int width) : isa(isa), width(width) {}
  Id add(Micro m);
  Id constant(uint64_t bits) { return add({.op = MicroOp::constant, .bits = bits}); }
  const std::vector<Micro>& code() const { return code_; }
  /// Everything that determines the machine code, as words.
  std::vector<uint64_t> key() const;

  const Isa isa;
  const int width;

 private:
  bool is_sign_bit(Id v) const;
  int sign_of(Id v) const;

  std::vector<Micro> code_;
  std::unordered_multimap<uint64_t, Id> seen_;
};

}  // namespace horngate::native::jit
