// Names of element types and conversion of the half types.
#include "horngate/dtype.h"

#include <bit>
#include <cmath>
#include <ostream>

#include "ir/check.h"

namespace horngate {

static constexpr const char* kNames[kDTypeCount] = {
    "float16", "bfloat16", "float32", "float64", "int8",   "int16", "int32",
    "int64",   "uint8",    "uint16",  "uint32",  "uint64", "bool"};

const char* name_of(DType t) { return kNames[static_cast<int>(t)]; }
std::ostream& operator<<(std::ostream& out, DType t) { return out << name_of(t); }

DType dtype_from(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name == kNames[i]) return static_cast<DType>(i);
  std::string known;
  for (const char* n : kNames) known += std::string(known.empty() ? "" : ", ") + n;
  throw ValueError(text_of("dtype must be one of ", known, "; got \"", name, "\"."));
}

float to_float(bfloat16_t b) { return std::bit_cast<float>(static_cast<uint32_t>(b.bits) << 16); }

bfloat16_t to_bfloat16(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  if (std::isnan(f)) return {static_cast<uint16_t>((u >> 16) | 0x40)};
  return {static_cast<uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16)};
}

float to_float(float16_t h) {
  const uint32_t sign = (h.bits & 0x8000u) << 16;
  const uint32_t exponent = (h.bits >> 10) & 0x1f, mantissa = h.bits & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

float16_t to_float16(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  const auto sign = static_cast<uint16_t>((u >> 16) & 0x8000);
  const uint32_t magnitude = u & 0x7fffffff;
  if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};
  if (magnitude >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};  // rounds to infinity
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 aligns the mantissa so that the hardware rounds to nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000))};
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return {static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13))};
}

}  // namespace horngate
