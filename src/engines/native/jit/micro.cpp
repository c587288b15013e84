#include "engines/native/jit/micro.h"

#include <bit>
#include <utility>

namespace horngate::native::jit {
namespace {

bool commutes(MicroOp op) {
  switch (op) {
    case MicroOp::add:
    case MicroOp::mul:
    case MicroOp::bit_and:
    case MicroOp::bit_or:
    case MicroOp::bit_xor:
    case MicroOp::int_add:
    case MicroOp::int_mul:
    case MicroOp::int_equal:
    case MicroOp::mask_and:
    case MicroOp::mask_or:
    case MicroOp::mask_xor: return true;
    default: return false;
  }
}

uint64_t word_of(const Micro& m) {
  return static_cast<uint64_t>(m.op) | uint64_t{m.imm} << 8 | uint64_t{m.operand} << 16 |
         static_cast<uint64_t>(m.dtype) << 32;
}
uint64_t ids_of(const Micro& m) {
  const auto id = [](Id v) { return static_cast<uint64_t>(v + 1) & 0x1fffff; };
  return id(m.a) | id(m.b) << 21 | id(m.c) << 42;
}

}  // namespace

bool Recording::is_sign_bit(Id v) const {
  const Micro& m = code_[static_cast<size_t>(v)];
  return m.op == MicroOp::constant && m.bits == uint64_t{1} << (8 * width - 1);
}

// -1: at most 0, or NaN; 1: at least 0, or NaN; 0: unknown. Floats only.
int Recording::sign_of(Id v) const {
  const Micro& m = code_[static_cast<size_t>(v)];
  switch (m.op) {
    case MicroOp::constant: return m.bits >> (8 * width - 1) ? -1 : 1;
    case MicroOp::mul: return m.a == m.b ? 1 : 0;
    case MicroOp::bit_or: return is_sign_bit(m.a) || is_sign_bit(m.b) ? -1 : 0;
    case MicroOp::bit_xor:
      return is_sign_bit(m.a) ? -sign_of(m.b) : is_sign_bit(m.b) ? -sign_of(m.a) : 0;
    default: return 0;
  }
}

Id Recording::add(Micro m) {
  if (commutes(m.op) && m.a > m.b) std::swap(m.a, m.b);
  // A min or max whose constant limit can never be reached.
  const auto limited = [&](int limit, int value) {
    return code_[static_cast<size_t>(m.a)].op == MicroOp::constant && sign_of(m.a) == limit &&
           sign_of(m.b) == value;
  };
  if (m.op == MicroOp::min && limited(1, -1)) return m.b;
  if (m.op == MicroOp::max && limited(-1, 1)) return m.b;
  const uint64_t hash = std::rotl(word_of(m) * 0x9e3779b97f4a7c15u, 31) ^
                        ids_of(m) * 0xff51afd7ed558ccdu ^ m.bits * 0xc4ceb9fe1a85ec53u;
  const bool effect = m.op == MicroOp::store || m.op == MicroOp::mask_store;
  if (!effect)
    for (auto [at, end] = seen_.equal_range(hash); at != end; ++at)
      if (code_[static_cast<size_t>(at->second)] == m) return at->second;
  code_.push_back(m);
  const Id id = static_cast<Id>(code_.size() - 1);
  if (!effect) seen_.emplace(hash, id);
  return id;
}

std::vector<uint64_t> Recording::key() const {
  std::vector<uint64_t> words = {static_cast<uint64_t>(isa) | static_cast<uint64_t>(width) << 8};
  words.reserve(1 + 3 * code_.size());
  for (const Micro& m : code_) {
    words.push_back(word_of(m));
    words.push_back(ids_of(m));
    if (m.op == MicroOp::constant) words.push_back(m.bits);
  }
  return words;
}

}  // namespace horngate::native::jit
