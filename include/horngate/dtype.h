// Element types of tensors and arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

#include "horngate/export.h"

namespace horngate {

/// Element type. The numeric values are part of the engine interface (engine.h) and never change.
enum class DType : uint8_t {
  float16 = 0,
  bfloat16 = 1,
  float32 = 2,
  float64 = 3,
  int8 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  uint8 = 8,
  uint16 = 9,
  uint32 = 10,
  uint64 = 11,
  bool_ = 12,
};
inline constexpr int kDTypeCount = 13;

/// Bytes of one element.
constexpr size_t size_of(DType t) {
  constexpr uint8_t kSizes[kDTypeCount] = {2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  return kSizes[static_cast<int>(t)];
}
constexpr bool is_float(DType t) { return t <= DType::float64; }
constexpr bool is_signed_int(DType t) { return t >= DType::int8 && t <= DType::int64; }
constexpr bool is_unsigned_int(DType t) { return t >= DType::uint8 && t <= DType::uint64; }
constexpr bool is_int(DType t) { return is_signed_int(t) || is_unsigned_int(t); }

/// "float32", "bool", ... as Keras spells it.
HORNGATE_API const char* name_of(DType t);

HORNGATE_API std::ostream& operator<<(std::ostream& out, DType t);

/// The type that a Keras string names; the ValueError lists the known names.
HORNGATE_API DType dtype_from(std::string_view name);

/// Half-precision storage types: only bits, arithmetic happens in float.
struct float16_t {
  uint16_t bits;
};
struct bfloat16_t {
  uint16_t bits;
};
HORNGATE_API float to_float(float16_t h);
HORNGATE_API float16_t to_float16(float f);
HORNGATE_API float to_float(bfloat16_t b);
HORNGATE_API bfloat16_t to_bfloat16(float f);

/// The DType of a C++ element type: dtype_v<float> == DType::float32.
template <class T>
struct DTypeOf;
#define HORNGATE_DTYPE_OF(type, name)           \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::name; \
  };
HORNGATE_DTYPE_OF(float16_t, float16)
HORNGATE_DTYPE_OF(bfloat16_t, bfloat16)
HORNGATE_DTYPE_OF(float, float32)
HORNGATE_DTYPE_OF(double, float64)
HORNGATE_DTYPE_OF(int8_t, int8)
HORNGATE_DTYPE_OF(int16_t, int16)
HORNGATE_DTYPE_OF(int32_t, int32)
HORNGATE_DTYPE_OF(int64_t, int64)
HORNGATE_DTYPE_OF(uint8_t, uint8)
HORNGATE_DTYPE_OF(uint16_t, uint16)
HORNGATE_DTYPE_OF(uint32_t, uint32)
HORNGATE_DTYPE_OF(uint64_t, uint64)
HORNGATE_DTYPE_OF(long long, int64)  // int64_t is long
HORNGATE_DTYPE_OF(unsigned long long, uint64)
HORNGATE_DTYPE_OF(bool, bool_)
#undef HORNGATE_DTYPE_OF
template <class T>
inline constexpr DType dtype_v = DTypeOf<T>::value;

}  // namespace horngate
