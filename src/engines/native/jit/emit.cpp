// From micro code to machine code: registers by next use, constants kept in registers while there
// are enough of them, then one loop.
#include <algorithm>
#include <cstring>
#include <limits>

#include "engines/native/jit/code.h"
#include "engines/native/jit/emitter.h"
#include "engines/native/jit/schedule.h"

namespace horngate::native::jit {
namespace {

using namespace Xbyak::util;

const Xbyak::Reg64 kOperands = rdi, kCount = rsi, kIndex = rax, kScratch = r11;
const Xbyak::Reg64 kPointers[] = {rcx, rdx, r8, r9, r10, rbx, r12, r13, r14, r15};
constexpr size_t kVolatile = 5;  // of these; the others must be preserved

// More than an operation can take, in both loops, with spills.
constexpr size_t kBytesPerOperation = 256, kBytesForEntry = 4096;

// Values held at once, besides constants. More chains side by side hide more latency; fewer leave
// more registers for constants.
constexpr int kLive512 = 14, kLive256 = 8;

bool is_effect(MicroOp op) { return op == MicroOp::store || op == MicroOp::mask_store; }
bool is_lazy(MicroOp op) { return op == MicroOp::constant || op == MicroOp::uniform; }

}  // namespace

Emitter::Emitter(const Recording& recording, std::span<uint8_t> memory)
    : CodeGenerator(memory.size(), memory.data()),
      r_(recording),
      code_(schedule(recording.code(), recording.isa == Isa::avx512 ? kLive512 : kLive256)),
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

// The number of values live at once decides how many constants get a register.
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

Xbyak::Address Emitter::constant(Id v, bool broadcast) {
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
  const auto at = rip + constant.pool + constants_;
  return broadcast ? ptr_b[at] : ptr[at];
}

Xbyak::Reg64 Emitter::pointer(uint16_t operand) {
  for (size_t i = 0; i < pointers_.size(); ++i)
    if (pointers_[i] == operand) return kPointers[i];
  failed_ |= scratch_held_;  // it would overwrite the address held there
  scratch_held_ = true;
  mov(kScratch, ptr[kOperands + operand * 8]);
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

Xbyak::Address Emitter::element(uint16_t operand, DType dtype) {
  return ptr[pointer(operand) + kIndex * static_cast<int>(size_of(dtype))];
}

/// Loads a constant, a uniform or a spilled value into a register.
void Emitter::fetch(int reg, Id v) {
  const Micro& m = code_[static_cast<size_t>(v)];
  const auto broadcast = [&](const Address& from) {
    wide_ ? vbroadcastsd(vec(reg), from) : vbroadcastss(vec(reg), from);
  };
  if (m.op == MicroOp::constant && avx512_) {
    broadcast(constant(v, false));
  } else if (m.op == MicroOp::constant) {
    vmovups(vec(reg), constant(v, false));
  } else if (m.op == MicroOp::uniform) {
    const Address from = ptr[pointer(m.operand)];
    m.imm ? vmovups(vec(reg), from) : broadcast(from);
    scratch_held_ = false;
  } else {
    vmovups(vec(reg), spilled(v));
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
    vmovups(spilled(holder_[static_cast<size_t>(best)]), vec(best));
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
    fetch(reg, v);
    wanted.reg = reg;
    holder_[static_cast<size_t>(reg)] = v;
  }
  locked_[static_cast<size_t>(wanted.reg)] = true;
  return wanted.reg;
}

Emitter::Rm Emitter::anywhere(Id v, int position) {
  const Value& wanted = value(v);
  const Micro& m = code_[static_cast<size_t>(v)];
  if (wanted.reg >= 0) {
    locked_[static_cast<size_t>(wanted.reg)] = true;
    return {vec(wanted.reg), {}};
  }
  if (m.op == MicroOp::constant) return {Xmm(), constant(v, avx512_)};
  if (m.op == MicroOp::uniform) {
    if (!m.imm && !avx512_) return {vec(in_register(v, position)), {}};
    const Reg64 at = pointer(m.operand);
    return {Xmm(), m.imm ? ptr[at] : ptr_b[at]};
  }
  return {Xmm(), spilled(v)};
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

bool Emitter::run(Binary& binary) {
  for (const Micro& m : code_) {
    if (m.op == MicroOp::load || m.op == MicroOp::mask_load)
      note_stream(m.operand, m.dtype, false, m.imm == 0);
    if (m.op == MicroOp::uniform) note_stream(m.operand, m.dtype, false, false);
    if (m.op == MicroOp::store || m.op == MicroOp::mask_store)
      note_stream(m.operand, m.dtype, true, true);
  }
  pin_constants();
  write_loop();
  if (failed_) return false;
  binary.entry = write_entry();
  write_pool();
  binary.bytes.assign(getCode(), getCurr());
  binary.lanes = lanes_;
  binary.masks = avx512_;
  binary.streams = std::move(streams_);
  return true;
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

void Emitter::write_loop() {
  L(loop_);
  emit_all();
  add(kIndex, lanes_);
  cmp(kIndex, kCount);
  jb(loop_, T_NEAR);
  L(last_);
  if (avx512_) {  // once more, on the lanes of the mask
    Xbyak::Label end;
    kortestw(Opmask(kRest), Opmask(kRest));
    jz(end, T_NEAR);
    forget_registers();
    rest_ = kRest;
    emit_all();
    L(end);
  }
  if (spills_ > 0) leave();
  for (size_t i = pointers_.size(); i-- > kVolatile;) pop(kPointers[i]);
  vzeroupper();
  ret();
}

/// Written after the loop, because the loop decides what must be prepared.
size_t Emitter::write_entry() {
  align(16);
  const size_t entry = getSize();
  if (avx512_) kmovw(Opmask(kRest), edx);
  for (size_t i = kVolatile; i < pointers_.size(); ++i) push(kPointers[i]);
  if (spills_ > 0) {
    push(rbp);
    mov(rbp, rsp);
    and_(rsp, -64);
    sub(rsp, spills_ * vector_bytes_);
  }
  for (size_t i = 0; i < pointers_.size(); ++i)
    mov(kPointers[i], ptr[kOperands + pointers_[i] * 8]);
  for (size_t reg = 0; reg < holder_.size(); ++reg)
    if (const Id v = holder_[reg]; v != kNoId && value(v).pinned) {
      scratch_held_ = false;
      fetch(static_cast<int>(reg), v);
    }
  xor_(eax, eax);
  test(kCount, kCount);
  jz(last_, T_NEAR);
  jmp(loop_, T_NEAR);
  return entry;
}

void Emitter::write_pool() {
  align(64);
  L(constants_);
  const size_t begin = getSize();
  setSize(begin + pool_.size());
  std::copy(pool_.begin(), pool_.end(), const_cast<uint8_t*>(getCode()) + begin);
}

Binary emit(const Recording& recording) {
  const size_t bytes = recording.code().size() * kBytesPerOperation + kBytesForEntry;
  const auto memory = std::make_unique_for_overwrite<uint8_t[]>(bytes);
  Binary binary;
  if (!Emitter(recording, {memory.get(), bytes}).run(binary)) return {};
  return binary;
}

}  // namespace horngate::native::jit
