#include "engines/native/jit/interpreter.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>

#include "ir/check.h"

namespace horngate::native::jit {
namespace {

std::atomic<bool> differs{false};
std::mutex difference_mutex;
std::string difference;

template <class T>
T as(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// a * 2^floor(b), rounded once.
template <class F>
F scaled(F a, F b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  if (std::isinf(b)) return b > 0 ? a * F(INFINITY) : a * F(0);
  return std::scalbn(a, static_cast<int>(std::floor(std::clamp(b, F(-5000), F(5000)))));
}

/// Operations on lanes; F and S are a lane as a float and as a signed integer.
template <class F, class S>
uint64_t compute(const Micro& m, uint64_t a, uint64_t b, uint64_t c) {
  using U = std::make_unsigned_t<S>;
  const F x = as<F>(a), y = as<F>(b), z = as<F>(c);
  const U u = static_cast<U>(a), v = static_cast<U>(b);
  const auto i = static_cast<S>(u), j = static_cast<S>(v);
  const auto mask = [](bool yes) { return yes ? uint64_t{static_cast<U>(~U{0})} : uint64_t{0}; };
  switch (m.op) {
    case MicroOp::add: return bits_of<F>(x + y);
    case MicroOp::sub: return bits_of<F>(x - y);
    case MicroOp::mul: return bits_of<F>(x * y);
    case MicroOp::div: return bits_of<F>(x / y);
    case MicroOp::min: return bits_of<F>(x < y ? x : y);
    case MicroOp::max: return bits_of<F>(x > y ? x : y);
    case MicroOp::fmadd: return bits_of<F>(std::fma(x, y, z));
    case MicroOp::fmsub: return bits_of<F>(std::fma(x, y, -z));
    case MicroOp::fnmadd: return bits_of<F>(std::fma(-x, y, z));
    case MicroOp::sqrt: return bits_of<F>(std::sqrt(x));
    case MicroOp::round: return bits_of<F>(m.imm ? std::floor(x) : std::nearbyint(x));
    case MicroOp::scalef: return bits_of<F>(scaled(x, y));
    case MicroOp::copysign: return (b & c) | (a & ~c);
    case MicroOp::bit_and: return a & b;
    case MicroOp::bit_or: return a | b;
    case MicroOp::bit_xor: return a ^ b;
    case MicroOp::int_add: return static_cast<U>(u + v);
    case MicroOp::int_sub: return static_cast<U>(u - v);
    case MicroOp::int_mul: return static_cast<U>(u * v);
    case MicroOp::int_min: return static_cast<U>(std::min(i, j));
    case MicroOp::int_max: return static_cast<U>(std::max(i, j));
    case MicroOp::shift_left: return static_cast<U>(u << m.imm);
    case MicroOp::shift_right: return static_cast<U>(u >> m.imm);
    case MicroOp::shift_right_signed: return static_cast<U>(i >> m.imm);
    case MicroOp::int_to_float: return bits_of<F>(static_cast<F>(i));
    case MicroOp::round_half:
      return bits_of<F>(static_cast<F>(static_cast<_Float16>(static_cast<float>(x))));
    case MicroOp::compare:  // the predicates of trace.h
      return mask(m.imm == 0x00   ? x == y
                  : m.imm == 0x03 ? x != x || y != y
                  : m.imm == 0x11 ? x < y
                                  : x <= y);
    case MicroOp::int_equal: return mask(u == v);
    case MicroOp::int_greater: return mask(i > j);
    case MicroOp::mask_and: return a & b;
    case MicroOp::mask_or: return a | b;
    case MicroOp::mask_xor: return a ^ b;
    case MicroOp::mask_not: return mask(!a);
    case MicroOp::blend: return a ? b : c;
    case MicroOp::blend_zero: return a ? b : 0;
    default: return 0;
  }
}

uint64_t load(const void* from, DType dtype, int width) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, std::min(size_of(dtype), static_cast<size_t>(width)));
  switch (dtype) {
    case DType::float16: return bits_of(static_cast<float>(as<_Float16>(bits)));
    case DType::int16: return static_cast<uint32_t>(int32_t{static_cast<int16_t>(bits)});
    case DType::int8: return static_cast<uint32_t>(int32_t{static_cast<int8_t>(bits)});
    default: return bits;
  }
}

/// The bits stored for an element of that type.
uint64_t stored(uint64_t lane, DType dtype) {
  if (dtype == DType::float16) return bits_of(static_cast<_Float16>(as<float>(lane)));
  if (dtype == DType::bool_) return lane != 0;
  return lane;
}

/// Any two NaNs count as equal.
bool same(const uint8_t* a, const uint8_t* b, DType dtype) {
  uint64_t x = 0, y = 0;
  std::memcpy(&x, a, size_of(dtype));
  std::memcpy(&y, b, size_of(dtype));
  if (x == y) return true;
  switch (dtype) {
    case DType::float16:
      return std::isnan(float(as<_Float16>(x))) && std::isnan(float(as<_Float16>(y)));
    case DType::bfloat16: return std::isnan(as<float>(x << 16)) && std::isnan(as<float>(y << 16));
    case DType::float32: return std::isnan(as<float>(x)) && std::isnan(as<float>(y));
    case DType::float64: return std::isnan(as<double>(x)) && std::isnan(as<double>(y));
    default: return false;
  }
}

bool is_store(const Micro& m) { return m.op == MicroOp::store || m.op == MicroOp::mask_store; }

}  // namespace

Interpreter::Interpreter(const Recording& recording)
    : code_(recording.code()), width_(recording.width) {}

void Interpreter::element(void* const* pointer, size_t i, std::vector<uint64_t>& lanes) const {
  const auto lane = [&](Id v) { return v == kNoId ? 0 : lanes[static_cast<size_t>(v)]; };
  for (size_t k = 0; k < code_.size(); ++k) {
    const Micro& m = code_[k];
    const auto* from = static_cast<const uint8_t*>(pointer[m.operand]);
    switch (m.op) {
      case MicroOp::constant: lanes[k] = width_ == 4 ? m.bits & 0xffffffffu : m.bits; break;
      case MicroOp::uniform: lanes[k] = load(from, m.dtype, width_); break;
      case MicroOp::load: lanes[k] = load(from + i * size_of(m.dtype), m.dtype, width_); break;
      case MicroOp::mask_load:
        lanes[k] = from[m.imm ? 0 : i] ? (width_ == 4 ? 0xffffffffu : ~uint64_t{0}) : 0;
        break;
      case MicroOp::store:
      case MicroOp::mask_store: lanes[k] = lane(m.a); break;
      default:
        lanes[k] = width_ == 4 ? compute<float, int32_t>(m, lane(m.a), lane(m.b), lane(m.c))
                               : compute<double, int64_t>(m, lane(m.a), lane(m.b), lane(m.c));
    }
  }
}

std::vector<std::vector<uint8_t>> Interpreter::expect(void* const* pointer, size_t n) const {
  std::vector<std::vector<uint8_t>> expected(code_.size());
  std::vector<uint64_t> lanes(code_.size());
  for (size_t i = 0; i < n; ++i) {
    element(pointer, i, lanes);
    for (size_t k = 0; k < code_.size(); ++k) {
      if (!is_store(code_[k])) continue;
      const uint64_t bits = stored(lanes[k], code_[k].dtype);
      const auto* bytes = reinterpret_cast<const uint8_t*>(&bits);
      expected[k].insert(expected[k].end(), bytes, bytes + size_of(code_[k].dtype));
    }
  }
  return expected;
}

void Interpreter::compare(const std::vector<std::vector<uint8_t>>& expected, void* const* pointer,
                          size_t n) const {
  for (size_t k = 0; k < code_.size(); ++k) {
    if (!is_store(code_[k])) continue;
    const size_t size = size_of(code_[k].dtype);
    const auto* got = static_cast<const uint8_t*>(pointer[code_[k].operand]);
    for (size_t i = 0; i < n; ++i) {
      if (same(got + i * size, expected[k].data() + i * size, code_[k].dtype)) continue;
      const std::lock_guard lock(difference_mutex);
      if (difference.empty()) {
        uint64_t want = 0, is = 0;
        std::memcpy(&want, expected[k].data() + i * size, size);
        std::memcpy(&is, got + i * size, size);
        difference =
            text_of("a compiled loop of ", code_.size(),
                    " operations differs from its micro code in operand ", code_[k].operand,
                    ", element ", i, " of ", n, ": bits ", is, " instead of ", want);
      }
      differs = true;
      return;
    }
  }
}

std::string take_difference() {
  if (!differs) return {};
  const std::lock_guard lock(difference_mutex);
  differs = false;
  return std::exchange(difference, {});
}

}  // namespace horngate::native::jit
