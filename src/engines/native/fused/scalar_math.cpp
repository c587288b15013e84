#include "engines/native/fused/scalar_math.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "ir/convert_element.h"

namespace horngate::native::fused::scalar {
namespace {

// fmod is exact, so (x - fmod) / y is a whole number but for rounding: take the nearest one.
template <class T>
T float_floordiv(T x, T y) {
  if (y == 0) return x / y;
  T rest = std::fmod(x, y);
  T quotient = (x - rest) / y;
  if (rest != 0 && (y < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(T(0), x / y);
  T whole = std::floor(quotient);
  if (quotient - whole > T(0.5)) whole += 1;
  return whole;
}

template <class T>
T float_mod(T x, T y) {
  T rest = std::fmod(x, y);
  if (rest == 0) return std::copysign(T(0), y);
  if ((y < 0) != (rest < 0)) rest += y;
  return rest;
}

template <class T>
constexpr bool overflows(T x, T y) {
  if constexpr (std::is_signed_v<T>) return y == -1 && x == std::numeric_limits<T>::min();
  return false;
}

template <class T>
T int_div(T x, T y) {
  if (y == 0) return 0;
  return overflows(x, y) ? x : static_cast<T>(x / y);
}

template <class T>
T int_floordiv(T x, T y) {
  if (y == 0) return 0;
  if (overflows(x, y)) return x;
  const T quotient = x / y, rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? quotient - 1 : quotient;
}

template <class T>
T int_mod(T x, T y) {
  if (y == 0 || overflows(x, y)) return 0;
  const T rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

template <class T>
T int_pow(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) {
      if (x == 1) return 1;
      if (x == -1) return y & 1 ? -1 : 1;
      return 0;
    }
  }
  // Wraps around. In 64 bits: shorter integers are multiplied as int, which must not overflow.
  uint64_t result = 1, base = static_cast<uint64_t>(x);
  for (auto n = static_cast<uint64_t>(y); n; n >>= 1) {
    if (n & 1) result *= base;
    base *= base;
  }
  return static_cast<T>(result);
}

}  // namespace

// The double functions reduce any argument exactly; rounding their result once gives the float.
float sin(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); }
double sin(double x) { return std::sin(x); }
float cos(float x) { return static_cast<float>(std::cos(static_cast<double>(x))); }
double cos(double x) { return std::cos(x); }
float pow(float x, float y) { return std::pow(x, y); }
double pow(double x, double y) { return std::pow(x, y); }

float floordiv(float x, float y) { return float_floordiv(x, y); }
double floordiv(double x, double y) { return float_floordiv(x, y); }
float mod(float x, float y) { return float_mod(x, y); }
double mod(double x, double y) { return float_mod(x, y); }

int32_t div(int32_t x, int32_t y) { return int_div(x, y); }
int64_t div(int64_t x, int64_t y) { return int_div(x, y); }
uint64_t div(uint64_t x, uint64_t y) { return int_div(x, y); }
int32_t floordiv(int32_t x, int32_t y) { return int_floordiv(x, y); }
int64_t floordiv(int64_t x, int64_t y) { return int_floordiv(x, y); }
uint64_t floordiv(uint64_t x, uint64_t y) { return int_div(x, y); }
int32_t mod(int32_t x, int32_t y) { return int_mod(x, y); }
int64_t mod(int64_t x, int64_t y) { return int_mod(x, y); }
uint64_t mod(uint64_t x, uint64_t y) { return y == 0 ? 0 : x % y; }
int32_t pow(int32_t x, int32_t y) { return int_pow(x, y); }
int64_t pow(int64_t x, int64_t y) { return int_pow(x, y); }
uint64_t pow(uint64_t x, uint64_t y) { return int_pow(x, y); }

int32_t to_i32(double x) { return float_to_int32(x); }
int64_t to_i64(double x) { return float_to_int64(x); }
uint64_t to_u64(double x) { return float_to_uint64(x); }

}  // namespace horngate::native::fused::scalar
