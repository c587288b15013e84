// Building programs: dtypes become lanes, equal instructions are merged, constants are folded.
#include "engines/native/fused/program.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engines/native/fused/simd.h"
#include "ir/check.h"
#include "ir/convert_element.h"
#include "ir/primitive.h"

namespace horngate::native::fused {
namespace {

Op op_of(Prim prim) {
  switch (prim) {
#define UNARY(name, cost) \
  case Prim::name: return Op::name;
#define BINARY(name, cost) UNARY(name, cost)
#define PRIM(name, how, attributes)
#include "ir/prims.def"
    case Prim::select: return Op::select;
    default: break;
  }
  invariant(false, "a fused program takes element-wise primitives only");
  return Op::copy;
}

bool is_logical(Op op) {
  return op == Op::logical_not || op == Op::logical_and || op == Op::logical_or;
}
bool gives_bool(Op op) { return is_comparison(op) || is_logical(op); }
bool commutes(Op op) {
  return op == Op::add || op == Op::mul || op == Op::eq || op == Op::ne || op == Op::logical_and ||
         op == Op::logical_or;
}
// Operations whose results may exceed a dtype narrower than its lane.
bool may_overflow(Op op) {
  return op == Op::neg || op == Op::abs || op == Op::add || op == Op::sub || op == Op::mul ||
         op == Op::div || op == Op::floordiv || op == Op::pow;
}
// Operations that do nothing to values that are integers or never negative.
bool is_identity(Op op, DType dtype) {
  if (op == Op::floor || op == Op::round) return !is_float(dtype);
  if (op == Op::abs) return is_unsigned_int(dtype) || dtype == DType::bool_;
  return (op == Op::sign || op == Op::neg) && dtype == DType::bool_;
}

// Operations of floats whose results every float type of the operands holds.
bool is_exact(Op op) {
  return op == Op::neg || op == Op::abs || op == Op::sign || op == Op::floor || op == Op::round ||
         op == Op::maximum || op == Op::minimum;
}

Op wrap_of(DType dtype) {
  switch (dtype) {
    case DType::int8: return Op::wrap_i8;
    case DType::int16: return Op::wrap_i16;
    case DType::uint8: return Op::wrap_u8;
    case DType::uint16: return Op::wrap_u16;
    case DType::uint32: return Op::wrap_u32;
    default: return Op::copy;
  }
}

// Whether `to` can hold every integer of `from`.
bool holds(DType to, DType from) {
  if (from == DType::bool_) return true;
  if (!is_int(from)) return false;
  if (is_unsigned_int(from)) return size_of(from) < size_of(to);
  return is_signed_int(to) && size_of(from) < size_of(to);
}

Fold fold_of(Prim reduction, bool of_bool) {
  switch (reduction) {
    case Prim::reduce_sum: return of_bool ? Fold::any : Fold::sum;
    case Prim::reduce_prod: return of_bool ? Fold::all : Fold::prod;
    case Prim::reduce_max: return of_bool ? Fold::any : Fold::max;
    case Prim::reduce_min: return of_bool ? Fold::all : Fold::min;
    case Prim::reduce_any: return Fold::any;
    case Prim::reduce_all: return Fold::all;
    default: break;
  }
  invariant(false, "reduce_output takes a reduction");
  return Fold::sum;
}

}  // namespace

Lane Program::lane(Reg value) const {
  if (value < inputs.size()) return lane_of(inputs[value]);
  const size_t rest = value - inputs.size();
  if (rest < constants.size()) return constants[rest].lane;
  return code[rest - constants.size()].out;
}

bool Program::reduces() const {
  return std::any_of(outputs.begin(), outputs.end(), [](const Output& o) { return o.reduces; });
}

size_t Program::hash() const {
  uint64_t h = 0x9e3779b97f4a7c15u;
  const auto mix = [&h](uint64_t v) { h = std::rotl((h ^ v) * 0xff51afd7ed558ccdu, 29); };
  mix(inputs.size());
  for (DType t : inputs) mix(static_cast<uint64_t>(t));
  for (const Constant& c : constants) {
    mix(c.bits);
    mix(static_cast<uint64_t>(c.lane));
  }
  for (const Instr& i : code) {
    mix(uint64_t{i.a} | uint64_t{i.b} << 16 | uint64_t{i.c} << 32);
    mix(static_cast<uint64_t>(i.op) | static_cast<uint64_t>(i.lane) << 8);
  }
  for (const Output& o : outputs)
    mix(uint64_t{o.value} | static_cast<uint64_t>(o.dtype) << 16 | uint64_t{o.reduces} << 24 |
        static_cast<uint64_t>(o.fold) << 32);
  return h;
}

Reg ProgramBuilder::add(Value v) {
  invariant(values_.size() < kNone, "a fused program has too many values");
  values_.push_back(v);
  return static_cast<Reg>(values_.size() - 1);
}

Reg ProgramBuilder::input(DType stored) {
  const Reg r = add({.kind = Kind::input, .dtype = stored});
  inputs_.push_back(r);
  return r;
}

Reg ProgramBuilder::constant(double value, DType dtype) {
  if (!is_float(dtype))
    return with_dtype(dtype, [&](auto zero) -> Reg {
      return constant(static_cast<int64_t>(widen(convert_element<decltype(zero)>(value))), dtype);
    });
  uint64_t bits;
  if (dtype == DType::float64) {
    bits = std::bit_cast<uint64_t>(value);
  } else {
    float f = static_cast<float>(value);
    if (dtype == DType::float16) f = to_float(to_float16(f));
    if (dtype == DType::bfloat16) f = to_float(to_bfloat16(f));
    bits = std::bit_cast<uint32_t>(f);
  }
  for (size_t i = 0; i < values_.size(); ++i)
    if (is_constant(static_cast<Reg>(i)) && values_[i].bits == bits && values_[i].dtype == dtype)
      return static_cast<Reg>(i);
  return add({.kind = Kind::constant, .dtype = dtype, .bits = bits});
}

Reg ProgramBuilder::constant(int64_t value, DType dtype) {
  if (is_float(dtype)) return constant(static_cast<double>(value), dtype);
  switch (dtype) {
    case DType::int8: value = static_cast<int8_t>(value); break;
    case DType::int16: value = static_cast<int16_t>(value); break;
    case DType::int32: value = static_cast<int32_t>(value); break;
    case DType::uint8: value = static_cast<uint8_t>(value); break;
    case DType::uint16: value = static_cast<uint16_t>(value); break;
    case DType::uint32: value = static_cast<uint32_t>(value); break;
    case DType::bool_: value = value != 0; break;
    default: break;
  }
  uint64_t bits = static_cast<uint64_t>(value);
  if (size_of(lane_of(dtype)) == 4) bits = static_cast<uint32_t>(bits);
  for (size_t i = 0; i < values_.size(); ++i)
    if (is_constant(static_cast<Reg>(i)) && values_[i].bits == bits && values_[i].dtype == dtype)
      return static_cast<Reg>(i);
  return add({.kind = Kind::constant, .dtype = dtype, .bits = bits});
}

double ProgramBuilder::constant_value(Reg r) const {
  const Value& v = values_[r];
  if (lane_of(v.dtype) == Lane::f32) return std::bit_cast<float>(static_cast<uint32_t>(v.bits));
  return std::bit_cast<double>(v.bits);
}

// Runs the kernel itself on the constants.
Reg ProgramBuilder::fold_constant(const Instr& instr, DType result) {
  alignas(64) unsigned char operand[3][64] = {};
  alignas(64) uint64_t value[64] = {};
  const Reg regs[3] = {instr.a, instr.b, instr.c};
  for (int i = 0; i < 3; ++i)
    if (regs[i] != kNone) std::memcpy(operand[i], &values_[regs[i]].bits, sizeof(uint64_t));
  const Kernels& k = kernels();
  const Kernel kernel =
      instr.op == Op::cast ? k.cast_of(instr.lane, instr.out) : k.of(instr.op, instr.lane);
  kernel(value, operand[0], operand[1], operand[2], 1, 0);
  uint64_t bits = value[0];
  if (size_of(instr.out) == 4) bits = static_cast<uint32_t>(bits);
  if (size_of(instr.out) == 1) bits = static_cast<uint8_t>(bits);
  return add({.kind = Kind::constant, .dtype = result, .bits = bits});
}

Reg ProgramBuilder::emit(Op op, DType operand, DType result, Reg a, Reg b, Reg c) {
  for (Reg* r : {&a, &b, &c})
    if (*r != kNone) *r = resolve(*r);
  if (commutes(op) && b < a) std::swap(a, b);
  const Instr instr = {op, lane_of(operand), lane_of(result), a, b, c};
  for (size_t i = 0; i < values_.size(); ++i)
    if (values_[i].kind == Kind::instr && values_[i].instr == instr && values_[i].dtype == result)
      return static_cast<Reg>(i);
  const auto constant_or_none = [this](Reg r) { return r == kNone || is_constant(r); };
  if (constant_or_none(a) && constant_or_none(b) && constant_or_none(c))
    return fold_constant(instr, result);
  ++instructions_;
  return add({.kind = Kind::instr, .dtype = result, .instr = instr});
}

Reg ProgramBuilder::wrap(Reg a) {
  const DType dtype = values_[a].dtype;
  const Op op = wrap_of(dtype);
  return op == Op::copy ? a : emit(op, dtype, dtype, a);
}

// Small whole exponents become products: as exact as pow and far cheaper.
Reg ProgramBuilder::power(DType dtype, Reg a, Reg b) {
  if (is_constant(b)) {
    const double y = constant_value(b);
    if (y == 1) return a;
    if (y == 2) return emit(Op::mul, dtype, dtype, a, a);
    if (y == 3) return emit(Op::mul, dtype, dtype, emit(Op::mul, dtype, dtype, a, a), a);
    if (y == -1) return emit(Op::div, dtype, dtype, constant(1.0, dtype), a);
  }
  return emit(Op::pow, dtype, dtype, a, b);
}

Reg ProgramBuilder::op(Prim prim, DType dtype, Reg a, Reg b, Reg c) {
  const Op op = op_of(prim);
  if (is_identity(op, dtype)) return a;
  if (op == Op::select) return emit(op, dtype, dtype, cast(a, DType::bool_), b, c);
  if (is_logical(op)) {
    a = cast(a, DType::bool_);
    if (b != kNone) b = cast(b, DType::bool_);
    dtype = DType::bool_;
  }
  if (gives_bool(op)) return emit(op, dtype, DType::bool_, a, b);
  const Lane lane = lane_of(dtype);
  if (is_float(lane)) {
    const Reg r = op == Op::pow ? power(dtype, a, b) : emit(op, dtype, dtype, a, b);
    return is_exact(op) ? r : rounded(r, dtype);
  }
  if (lane == Lane::b8 && !kernels().of(op, lane)) {
    // Operations that bool lacks are done in int8.
    const Reg wide_b = b == kNone ? kNone : cast(b, DType::int8);
    return cast(this->op(prim, DType::int8, cast(a, DType::int8), wide_b), DType::bool_);
  }
  invariant(kernels().of(op, lane) != nullptr, primitive(prim).name, " is not for ",
            name_of(dtype));
  const Reg r = emit(op, dtype, dtype, a, b);
  return may_overflow(op) ? wrap(r) : r;
}

// A half type rounds each result, here as in memory, so that all who compute a value find the same bits.
Reg ProgramBuilder::rounded(Reg r, DType to) {
  if (to != DType::float16 && to != DType::bfloat16) return r;
  return emit(to == DType::float16 ? Op::round_f16 : Op::round_bf16, DType::float32, to, r);
}

// The same bits under another dtype of the same lane.
Reg ProgramBuilder::retype(Reg a, DType to) {
  if (values_[a].dtype == to) return a;
  a = resolve(a);
  if (is_constant(a)) return add({.kind = Kind::constant, .dtype = to, .bits = values_[a].bits});
  return add({.kind = Kind::alias, .dtype = to, .instr = {Op::copy, lane_of(to), lane_of(to), a}});
}

Reg ProgramBuilder::cast(Reg a, DType to) {
  const DType from = values_[a].dtype;
  if (from == to) return a;
  const DType lane = dtype_of(lane_of(to));
  const Reg r = lane_of(from) == lane_of(to) ? retype(a, lane) : emit(Op::cast, from, lane, a);
  if (to == DType::float16 || to == DType::bfloat16) return rounded(r, to);
  const Op op = wrap_of(to);
  return op == Op::copy || holds(to, from) ? retype(r, to) : emit(op, to, to, r);
}

void ProgramBuilder::output(Reg r) {
  outputs_.push_back({.value = resolve(r), .dtype = values_[r].dtype});
}

void ProgramBuilder::reduce_output(Reg r, Prim reduction) {
  if (reduction == Prim::reduce_any || reduction == Prim::reduce_all) r = cast(r, DType::bool_);
  const DType dtype = values_[r].dtype;
  outputs_.push_back({resolve(r), dtype, true, fold_of(reduction, dtype == DType::bool_)});
}

}  // namespace horngate::native::fused
