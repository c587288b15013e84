// with_dtype(t, f): calls f with a value of the C++ element type of t, for kernels written as templates.
#pragma once

#include <cstdint>

#include "horngate/dtype.h"

namespace horngate {

/// All dtypes; the half types come as float16_t and bfloat16_t (storage only).
template <class F>
decltype(auto) with_dtype(DType t, F&& f) {
  switch (t) {
    case DType::float16: return f(float16_t{});
    case DType::bfloat16: return f(bfloat16_t{});
    case DType::float32: return f(float{});
    case DType::float64: return f(double{});
    case DType::int8: return f(int8_t{});
    case DType::int16: return f(int16_t{});
    case DType::int32: return f(int32_t{});
    case DType::int64: return f(int64_t{});
    case DType::uint8: return f(uint8_t{});
    case DType::uint16: return f(uint16_t{});
    case DType::uint32: return f(uint32_t{});
    case DType::uint64: return f(uint64_t{});
    case DType::bool_: break;
  }
  return f(bool{});
}

/// By element size only, for data movement: unsigned integers of 1, 2, 4 or 8 bytes.
template <class F>
decltype(auto) with_bytes(DType t, F&& f) {
  switch (size_of(t)) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
  }
  return f(uint64_t{});
}

/// Arithmetic happens in Wide<T>: float for the half types, T itself otherwise.
template <class T>
struct WideOf {
  using type = T;
};
template <>
struct WideOf<float16_t> {
  using type = float;
};
template <>
struct WideOf<bfloat16_t> {
  using type = float;
};
template <class T>
using Wide = typename WideOf<T>::type;

template <class T>
Wide<T> widen(T v) {
  return v;
}
inline float widen(float16_t v) { return to_float(v); }
inline float widen(bfloat16_t v) { return to_float(v); }
template <class T>
T narrow(Wide<T> v) {
  return v;
}
template <>
inline float16_t narrow<float16_t>(float v) {
  return to_float16(v);
}
template <>
inline bfloat16_t narrow<bfloat16_t>(float v) {
  return to_bfloat16(v);
}

}  // namespace horngate
