// One element in another dtype: defines `cast`, for constants and for kernels that go element by
// element.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "ir/dispatch_dtype.h"

namespace horngate {

/// Truncated towards zero. NaN and whatever does not fit into int32 or int64 become the smallest
/// number of that type, as on x86-64 and therefore in NumPy and most libraries there.
inline int32_t float_to_int32(double x) {
  return x > -2147483649.0 && x < 2147483648.0 ? static_cast<int32_t>(x)
                                               : std::numeric_limits<int32_t>::min();
}
inline int64_t float_to_int64(double x) {
  return x >= -0x1p63 && x < 0x1p63 ? static_cast<int64_t>(x) : std::numeric_limits<int64_t>::min();
}
/// Below 2^63 like int64, then modulo 2^64; 0 from 2^64 on.
inline uint64_t float_to_uint64(double x) {
  if (!(x >= 0x1p63)) return static_cast<uint64_t>(float_to_int64(x));
  return x < 0x1p64 ? static_cast<uint64_t>(x) : 0;
}

/// Integers are taken modulo 2^bits. Floats are first converted to int32 (for int8 to int32, uint8,
/// uint16) or to int64 (for int64, uint32). Anything but 0 is true.
template <class To, class From>
To convert_element(From v) {
  const auto x = widen(v);
  if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<decltype(x)>) {
    if constexpr (std::is_same_v<To, uint64_t>)
      return float_to_uint64(x);
    else if constexpr (std::is_same_v<To, int64_t> || std::is_same_v<To, uint32_t>)
      return static_cast<To>(float_to_int64(x));
    else
      return static_cast<To>(float_to_int32(x));
  } else {
    return narrow<To>(static_cast<Wide<To>>(x));
  }
}

/// An integer as a value of the dtype `to`, modulo 2^bits; uint64 keeps the bits.
inline int64_t wrap_int(int64_t value, DType to) {
  return with_dtype(to, [&](auto zero) -> int64_t {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      return static_cast<int64_t>(convert_element<T>(value));
    else
      return value;
  });
}

}  // namespace horngate
