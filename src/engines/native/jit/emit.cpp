// From micro code to machine code: registers by next use, constants kept in registers while there
// are enough, then one loop.
#include <algorithm>
#include <cstring>
#include <limits>

#include "engines/native/jit/code.h"
#include "engines/native/jit/emitter.h"
#include "engines/native/jit/schedule.h"

namespace horngate::native::jit {
namespace {

constexpr Gpr kCount = rsi, kOperands = rdi, kIndex = rax, kScratch = r11;
constexpr Gpr kPointers[] = {rcx, rdx, r8, r9, r10, rbx, r12, r13, r14, r15};
constexpr size_t kVolatile = 5;  // of them; the others are the caller's

// Values held at once beside constants. More chains side by side hide more latency; fewer leave
// registers to constants.
constexpr int kLive512 = 14, kLive256 = 8;

bool is_effect(MicroOp op) { return op == MicroOp::store || op == MicroOp::mask_store; }
bool is_lazy(MicroOp op) { return op == MicroOp::constant || op == MicroOp::uniform; }

}  // namespace

Emitter::Emitter(const Recording& recording)
    : r_(recording),
      code_(schedule(recording.code(), recording.isa == Isa::avx512 ? kLive512 : kLive256)),
      body_(recording.isa),
      avx512_(recording.isa == Isa::avx512),
      wide_(recording.width == 8),
      vector_bytes_(avx512_ ? 64 : 32),
      lanes_(vector_bytes_ / recording.width),
      values_(code_.size()),
      holder_(avx512_ ? 32 : 16, kNoId),
      locked_(holder_.size(), false) {
  // Backwards, so that only what a store needs counts as a use.
  for (size_t p = code_.size(); p-- > 0;) {
    if (!is_effect(code_[p].op) && values_[p].uses.empty()) continue;
    for (Id v : {code_[p].a, code_[p].b, code_[p].c})
      if (v != kNoId) value(v).uses.push_back(static_cast<int>(p));
  }
  for (Value& v : values_) std::reverse(v.uses.begin(), v.uses.end());
}

bool Emitter::in_mask_register(Id v) const {
  return avx512_ && gives_mask(code_[static_cast<size_t>(v)].op);
}

// What is live at once apart from constants decides how many of those get a register.
void Emitter::pin_constants() {
  std::vector<int> last(code_.size(), -1);
  for (size_t v = 0; v < code_.size(); ++v)
    if (!values_[v].uses.empty()) last[v] = values_[v].uses.back();
  int live = 0, most = 0;
  std::vector<int> ends(code_.size() + 1, 0);
  std::vector<Id> lazy;
  for (size_t v = 0; v < code_.size(); ++v) {
    live -= ends[v];
    if (last[v] < 0) continue;
    if (is_lazy(code_[v].op)) {
      lazy.push_back(static_cast<Id>(v));
    } else if (!in_mask_register(static_cast<Id>(v))) {
      most = std::max(most, ++live);
      ++ends[static_cast<size_t>(last[v])];
    }
  }
  std::stable_sort(lazy.begin(), lazy.end(),
                   [this](Id a, Id b) { return value(a).uses.size() > value(b).uses.size(); });
  const int room = static_cast<int>(holder_.size()) - most - 3;
  for (int i = 0; i < std::min(room, static_cast<int>(lazy.size())); ++i) {
    const int reg = static_cast<int>(holder_.size()) - 1 - i;
    value(lazy[static_cast<size_t>(i)]).reg = reg;
    value(lazy[static_cast<size_t>(i)]).pinned = true;
    holder_[static_cast<size_t>(reg)] = lazy[static_cast<size_t>(i)];
  }
}

int Emitter::next_use(Id v, int after) const {
  const std::vector<int>& uses = values_[static_cast<size_t>(v)].uses;
  const auto it = std::upper_bound(uses.begin(), uses.end(), after);
  return it == uses.end() ? std::numeric_limits<int>::max() : *it;
}

Opcode Emitter::float_op(uint8_t code) const {
  return {1, static_cast<uint8_t>(wide_), code, wide_};
}

int32_t Emitter::pool_offset(Id v) {
  Value& constant = value(v);
  if (constant.pool < 0) {
    constant.pool = static_cast<int32_t>(pool_.size());
    const uint64_t bits = code_[static_cast<size_t>(v)].bits;
    const int copies = avx512_ ? 1 : lanes_;
    for (int i = 0; i < copies; ++i) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(&bits);
      pool_.insert(pool_.end(), bytes, bytes + r_.width);
    }
  }
  return constant.pool;
}

Gpr Emitter::pointer(Assembler& a, uint16_t operand) {
  for (size_t i = 0; i < pointers_.size(); ++i)
    if (pointers_[i] == operand) return kPointers[i];
  failed_ |= scratch_held_;  // the address in it would be lost
  scratch_held_ = true;
  a.load_pointer(kScratch, kOperands, operand * 8);
  return kScratch;
}

void Emitter::note_stream(uint16_t operand, DType dtype, bool writes, bool moves) {
  const auto size = static_cast<uint8_t>(moves ? size_of(dtype) : 0);
  const Stream stream = {operand, size, writes};
  if (std::find(streams_.begin(), streams_.end(), stream) != streams_.end()) return;
  streams_.push_back(stream);
  const bool known = std::find(pointers_.begin(), pointers_.end(), operand) != pointers_.end();
  if (moves && !known && pointers_.size() < std::size(kPointers)) pointers_.push_back(operand);
}

Rm Emitter::element(uint16_t operand, DType dtype) {
  const uint8_t scale = static_cast<uint8_t>(std::countr_zero(size_of(dtype)));
  return Rm::at(pointer(body_, operand), kIndex, scale);
}

/// Into a register from where a constant, a repeated or a spilled value is.
void Emitter::fetch(Assembler& a, int reg, Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const bool wide512 = wide_ && avx512_;  // AVX2's broadcast has no W
  const Opcode broadcast = {2, 1, static_cast<uint8_t>(wide_ ? 0x19 : 0x18), wide512};
  if (m.op == MicroOp::constant && avx512_) {
    a.vector(broadcast, reg, 0, Rm::constant(pool_offset(v), false));
  } else if (m.op == MicroOp::constant) {
    a.vector(float_op(0x10), reg, 0, Rm::constant(pool_offset(v), false));
  } else if (m.op == MicroOp::uniform) {
    a.vector(m.imm ? float_op(0x10) : broadcast, reg, 0, Rm::at(pointer(a, m.operand)));
    scratch_held_ = false;
  } else {
    a.vector(float_op(0x10), reg, 0, Rm::at(rsp, value(v).spill * vector_bytes_));
  }
}

int Emitter::take(int position) {
  int best = -1, best_use = -1;
  for (size_t reg = 0; reg < holder_.size(); ++reg) {
    if (locked_[reg]) continue;
    const Id held = holder_[reg];
    if (held == kNoId) {
      locked_[reg] = true;
      return static_cast<int>(reg);
    }
    if (value(held).pinned) continue;
    if (const int use = next_use(held, position - 1); use > best_use) {
      best = static_cast<int>(reg);
      best_use = use;
    }
  }
  if (best < 0) {
    failed_ = true;
    return 0;
  }
  Value& evicted = value(holder_[static_cast<size_t>(best)]);
  if (!is_lazy(code_[static_cast<size_t>(holder_[static_cast<size_t>(best)])].op) &&
      evicted.spill < 0) {
    evicted.spill = spills_++;
    body_.vector(float_op(0x11), best, 0, Rm::at(rsp, evicted.spill * vector_bytes_));
  }
  evicted.reg = -1;
  holder_[static_cast<size_t>(best)] = kNoId;
  locked_[static_cast<size_t>(best)] = true;
  return best;
}

int Emitter::in_register(Id v, int position) {
  Value& wanted = value(v);
  if (wanted.reg < 0) {
    const int reg = take(position);
    fetch(body_, reg, v);
    wanted.reg = reg;
    holder_[static_cast<size_t>(reg)] = v;
  }
  locked_[static_cast<size_t>(wanted.reg)] = true;
  return wanted.reg;
}

Rm Emitter::anywhere(Id v, int position) {
  const Value& wanted = value(v);
  const Micro& m = code_[static_cast<size_t>(v)];
  if (wanted.reg >= 0) {
    locked_[static_cast<size_t>(wanted.reg)] = true;
    return Rm::of(wanted.reg);
  }
  if (m.op == MicroOp::constant) return Rm::constant(pool_offset(v), avx512_);
  if (m.op == MicroOp::uniform) {
    if (!m.imm && !avx512_) return Rm::of(in_register(v, position));
    Rm at = Rm::at(pointer(body_, m.operand));
    at.broadcast = !m.imm;
    return at;
  }
  return Rm::at(rsp, wanted.spill * vector_bytes_);
}

void Emitter::release_dead(const Micro& m, int position) {
  for (Id v : {m.a, m.b, m.c}) {
    if (v == kNoId || next_use(v, position) != std::numeric_limits<int>::max()) continue;
    Value& dead = value(v);
    if (dead.pinned || dead.reg < 0) continue;
    if (in_mask_register(v)) {
      masks_ &= ~(1u << dead.reg);
    } else {
      holder_[static_cast<size_t>(dead.reg)] = kNoId;
      locked_[static_cast<size_t>(dead.reg)] = false;
    }
    dead.reg = -1;
  }
}

int Emitter::define(Id v, int position) {
  const int reg = take(position);
  value(v).reg = reg;
  holder_[static_cast<size_t>(reg)] = v;
  return reg;
}

int Emitter::define_mask(Id v) {
  for (int k = 1; k < kRest; ++k)
    if (!(masks_ >> k & 1)) {
      masks_ |= 1u << k;
      return value(v).reg = k;
    }
  failed_ = true;
  return value(v).reg = 1;
}

Binary Emitter::run() {
  for (const Micro& m : code_) {
    if (m.op == MicroOp::load || m.op == MicroOp::mask_load)
      note_stream(m.operand, m.dtype, false, m.imm == 0);
    if (m.op == MicroOp::uniform) note_stream(m.operand, m.dtype, false, false);
    if (m.op == MicroOp::store || m.op == MicroOp::mask_store)
      note_stream(m.operand, m.dtype, true, true);
  }
  pin_constants();
  emit_all();
  if (failed_) return {};
  return assemble();
}

void Emitter::emit_all() {
  for (size_t p = 0; p < code_.size() && !failed_; ++p) {
    if (is_lazy(code_[p].op) || (!is_effect(code_[p].op) && values_[p].uses.empty())) continue;
    std::fill(locked_.begin(), locked_.end(), false);
    scratch_held_ = false;
    one(static_cast<Id>(p));
  }
}

void Emitter::forget_registers() {
  masks_ = kNoMasks;
  for (size_t v = 0; v < values_.size(); ++v) {
    Value& value = values_[v];
    if (value.pinned) continue;
    if (value.reg >= 0 && !in_mask_register(static_cast<Id>(v)))
      holder_[static_cast<size_t>(value.reg)] = kNoId;
    value.reg = value.spill = -1;
  }
}

Binary Emitter::assemble() {
  body_.add(kIndex, static_cast<int8_t>(lanes_));
  body_.compare(kIndex, kCount);
  body_.jump_below(0);
  const size_t last = body_.code.size();
  if (avx512_) {  // the same once more, on the lanes of the mask
    body_.vex({1, 0, 0x98}, false, kRest, 0, Rm::of(kRest));
    const size_t over = body_.jump_zero();
    forget_registers();
    rest_ = kRest;
    emit_all();
    if (failed_) return {};
    body_.land(over);
  }
  if (spills_ > 0) body_.leave();
  for (size_t i = pointers_.size(); i-- > kVolatile;) body_.pop(kPointers[i]);
  body_.vzeroupper();
  body_.ret();

  Assembler start(r_.isa);
  if (avx512_) start.vex({1, 0, 0x92}, false, kRest, 0, Rm::of(rdx));
  for (size_t i = kVolatile; i < pointers_.size(); ++i) start.push(kPointers[i]);
  if (spills_ > 0) {
    start.push(rbp);
    start.move(rbp, rsp);
    start.and_imm8(rsp, -64);
    start.sub_imm32(rsp, spills_ * vector_bytes_);
  }
  for (size_t i = 0; i < pointers_.size(); ++i)
    start.load_pointer(kPointers[i], kOperands, pointers_[i] * 8);
  for (size_t reg = 0; reg < holder_.size(); ++reg)
    if (const Id v = holder_[reg]; v != kNoId && value(v).pinned)
      fetch(start, static_cast<int>(reg), v);
  start.zero(kIndex);
  start.test(kCount);
  const size_t to_last = start.jump_zero();
  while (start.code.size() % 32 != 0) start.code.push_back(0x90);
  start.land(to_last, start.code.size() + last);

  Binary binary;
  binary.lanes = lanes_;
  binary.masks = avx512_;
  binary.streams = streams_;
  binary.bytes = start.code;
  binary.bytes.insert(binary.bytes.end(), body_.code.begin(), body_.code.end());
  binary.bytes.resize((binary.bytes.size() + 63) / 64 * 64, 0xcc);
  const size_t pool = binary.bytes.size();
  binary.bytes.insert(binary.bytes.end(), pool_.begin(), pool_.end());
  const auto patch = [&](const Assembler::Fixup& f, size_t base) {
    int32_t offset;
    std::memcpy(&offset, binary.bytes.data() + base + f.at, 4);
    offset += static_cast<int32_t>(pool) - static_cast<int32_t>(base + f.end);
    std::memcpy(binary.bytes.data() + base + f.at, &offset, 4);
  };
  for (const auto& f : start.fixups) patch(f, 0);
  for (const auto& f : body_.fixups) patch(f, start.code.size());
  return binary;
}

Binary emit(const Recording& recording) { return Emitter(recording).run(); }

}  // namespace horngate::native::jit
