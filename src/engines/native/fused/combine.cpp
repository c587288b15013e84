// ProgramBuilder::build: merges pairs of instructions and drops unused ones.
#include <algorithm>
#include <bit>
#include <cmath>

#include "engines/native/fused/program.h"
#include "ir/check.h"

namespace horngate::native::fused {

void ProgramBuilder::count_uses() {
  for (Value& v : values_) v.uses = 0;
  for (const Output& o : outputs_) ++values_[o.value].uses;
  for (size_t i = values_.size(); i-- > 0;) {
    const Value& v = values_[i];
    if (v.kind != Kind::instr || v.uses == 0) continue;
    for (Reg r : {v.instr.a, v.instr.b, v.instr.c})
      if (r != kNone) ++values_[r].uses;
  }
}

ProgramBuilder::Value* ProgramBuilder::single(Reg r, Op op) {
  Value& v = values_[r];
  return v.kind == Kind::instr && v.instr.op == op && v.uses == 1 ? &v : nullptr;
}

void ProgramBuilder::replace(Value& v, Op op, Reg a, Reg b, Reg c) {
  v.instr.op = op;
  v.instr.a = a;
  v.instr.b = b;
  v.instr.c = c;
  count_uses();
}

// -(a b), exp(-(a b)), x / 2^k
bool ProgramBuilder::combine_product(Value& v) {
  const Reg a = v.instr.a, b = v.instr.b;
  if (v.instr.op == Op::neg) {
    if (const Value* m = single(a, Op::mul)) {
      replace(v, Op::nmul, m->instr.a, m->instr.b);
      return true;
    }
  } else if (v.instr.op == Op::exp) {
    if (const Value* m = single(a, Op::nmul)) {
      replace(v, Op::exp_nmul, m->instr.a, m->instr.b);
      return true;
    }
  } else if (v.instr.op == Op::mul) {
    for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
      if (const Value* n = single(x, Op::neg)) {
        replace(v, Op::nmul, n->instr.a, y);
        return true;
      }
    }
  } else if (v.instr.op == Op::div && is_constant(b)) {
    int exponent;
    const double divisor = constant_value(b);
    if (std::fabs(std::frexp(divisor, &exponent)) == 0.5 && std::abs(exponent) < 120) {
      // In the type that computes: float16 does not have the reciprocal of 2^-16.
      replace(v, Op::mul, a, constant(1 / divisor, dtype_of(lane_of(v.dtype))));
      return true;
    }
  }
  return false;
}

// a + (-b). Not a b + c in one rounding, nor sigmoid(a) tanh(b) with one division: other groups may compute the same value
// from its parts, and whoever compares the two (the gradient of a maximum does) must find the same bits.
bool ProgramBuilder::combine_sum(Value& v) {
  const bool adds = v.instr.op == Op::add;
  if (!adds && v.instr.op != Op::sub) return false;
  const Reg a = v.instr.a, b = v.instr.b;
  if (Value* p = single(b, Op::nmul)) {
    p->instr.op = Op::mul;
    replace(v, adds ? Op::sub : Op::add, a, b);
  } else if (Value* q = adds ? single(a, Op::nmul) : nullptr) {
    q->instr.op = Op::mul;
    replace(v, Op::sub, b, a);
  } else if (const Value* s = single(b, Op::neg)) {
    replace(v, adds ? Op::sub : Op::add, a, s->instr.a);
  } else if (const Value* t = adds ? single(a, Op::neg) : nullptr) {
    replace(v, Op::sub, b, t->instr.a);
  } else {
    return false;
  }
  return true;
}

void ProgramBuilder::combine() {
  count_uses();
  // A store to the half type rounds anyway.
  for (Output& o : outputs_) {
    const Value& v = values_[o.value];
    const bool rounds = (v.instr.op == Op::round_f16 && o.dtype == DType::float16) ||
                        (v.instr.op == Op::round_bf16 && o.dtype == DType::bfloat16);
    if (v.kind == Kind::instr && !o.reduces && rounds && v.uses == 1) o.value = v.instr.a;
  }
  count_uses();
  const size_t count = values_.size();
  values_.reserve(2 * count);  // combining adds constants while references are held
  // Products first: sums look for what they have become.
  for (const bool products : {true, false})
    for (size_t i = 0; i < count; ++i) {
      if (values_[i].kind != Kind::instr || values_[i].uses == 0) continue;
      if (!is_float(values_[i].instr.lane)) continue;
      if (products)
        combine_product(values_[i]);
      else
        combine_sum(values_[i]);
    }
  count_uses();
}

Program ProgramBuilder::build() {
  combine();
  Program p;
  std::vector<Reg> number(values_.size(), kNone);
  for (Reg r : inputs_) {
    number[r] = static_cast<Reg>(p.inputs.size());
    p.inputs.push_back(values_[r].dtype);
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    const Value& v = values_[i];
    if (v.kind != Kind::constant || v.uses == 0) continue;
    const Constant c = {v.bits, lane_of(v.dtype)};
    const auto same = std::find(p.constants.begin(), p.constants.end(), c);
    number[i] = static_cast<Reg>(p.inputs.size() + static_cast<size_t>(same - p.constants.begin()));
    if (same == p.constants.end()) p.constants.push_back(c);
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    const Value& v = values_[i];
    if (v.kind != Kind::instr || v.uses == 0) continue;
    Instr instr = v.instr;
    for (Reg* r : {&instr.a, &instr.b, &instr.c})
      if (*r != kNone) *r = number[*r];
    number[i] = p.value_of(p.code.size());
    p.code.push_back(instr);
  }
  for (Output o : outputs_) {
    o.value = number[o.value];
    p.outputs.push_back(o);
  }
  invariant(!p.outputs.empty(), "a fused program without outputs");
  return p;
}

}  // namespace horngate::native::fused
