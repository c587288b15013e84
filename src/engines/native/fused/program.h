// Program: the arithmetic of a fused group, without addresses and extents. Equal programs can share
// a loop.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/native/fused/kernels.h"
#include "horngate/dtype.h"
#include "ir/attrs.h"

namespace horngate::native::fused {

/// A value of a program: the result of an instruction, an input or a constant.
using Reg = uint16_t;
inline constexpr Reg kNone = 0xffff;

struct Instr {
  Op op;
  Lane lane;  // of the operands (of b and c for select); picks the kernel
  Lane out;
  Reg a = kNone, b = kNone, c = kNone;
  bool operator==(const Instr&) const = default;
};

struct Constant {
  uint64_t bits;  // the lane's, in the low bytes
  Lane lane;
  bool operator==(const Constant&) const = default;
};

struct Output {
  Reg value;
  DType dtype;
  bool reduces = false;
  Fold fold = Fold::sum;
  bool operator==(const Output&) const = default;
};

/// Values are numbered: inputs, then constants, then the results of the instructions in order.
struct Program {
  std::vector<DType> inputs;  // as stored
  std::vector<Constant> constants;
  std::vector<Instr> code;
  std::vector<Output> outputs;

  size_t value_count() const { return inputs.size() + constants.size() + code.size(); }
  Reg value_of(size_t instruction) const {
    return static_cast<Reg>(inputs.size() + constants.size() + instruction);
  }
  Lane lane(Reg value) const;
  bool reduces() const;
  bool operator==(const Program&) const = default;
  size_t hash() const;
};

inline constexpr int kMaxInputs = 16;
inline constexpr int kMaxOutputs = 8;

class ProgramBuilder {
 public:
  /// Inputs are numbered in the order of the calls, used or not.
  Reg input(DType stored);
  Reg constant(double value, DType dtype);
  Reg constant(int64_t value, DType dtype);
  template <std::integral T>
  Reg constant(T value, DType dtype) {
    return constant(static_cast<int64_t>(value), dtype);
  }
  /// Any element-wise primitive except cast and broadcast. `dtype` is that of the operands (for
  /// select(condition, a, b): of a and b); comparisons and logical operations give bool.
  ///  - Integers wrap around in their dtype. Integer `div` truncates; by zero it gives 0.
  ///  - bool adds as `or`, subtracts as `xor`, multiplies as `and`.
  Reg op(Prim prim, DType dtype, Reg a, Reg b = kNone, Reg c = kNone);
  /// Like convert_element (ir/convert_element.h).
  Reg cast(Reg a, DType to);
  /// Stored with the register's dtype; numbered in call order, together with reduce_output.
  void output(Reg r);
  /// reduce_sum, prod, max, min, any or all of r over the reduced axes of the group.
  void reduce_output(Reg r, Prim reduction);

  DType dtype(Reg r) const { return values_[r].dtype; }
  /// Instructions so far; build() removes unused ones and combines others.
  int instruction_count() const { return instructions_; }
  Program build();

 private:
  enum class Kind : uint8_t {
    input,
    constant,
    instr,
    alias
  };  // alias: instr.a under another dtype
  struct Value {
    Kind kind;
    DType dtype;
    uint64_t bits = 0;  // of a constant
    Instr instr = {};
    int uses = 0;
  };
  Reg add(Value v);
  Reg emit(Op op, DType operand, DType result, Reg a, Reg b = kNone, Reg c = kNone);
  Reg fold_constant(const Instr& instr, DType result);
  Reg power(DType dtype, Reg a, Reg b);
  Reg wrap(Reg a);
  Reg rounded(Reg r, DType to);
  Reg retype(Reg a, DType to);
  Reg resolve(Reg r) const { return values_[r].kind == Kind::alias ? values_[r].instr.a : r; }
  bool is_constant(Reg r) const { return values_[r].kind == Kind::constant; }
  double constant_value(Reg r) const;

  void count_uses();
  void combine();
  bool combine_product(Value& v);
  bool combine_sum(Value& v);
  Value* single(Reg r, Op op);  // r if it is this instruction and has one use
  void replace(Value& v, Op op, Reg a, Reg b = kNone, Reg c = kNone);

  std::vector<Value> values_;
  std::vector<Reg> inputs_;
  std::vector<Output> outputs_;
  int instructions_ = 0;
};

}  // namespace horngate::native::fused
