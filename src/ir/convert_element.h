// One element in another dtype: what `cast` means, for constants and for what kernels do one by one.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "ir/dispatch_dtype.h"

namespace horngate {

/// Truncated towards zero. What int32 or int64 does not hold, and NaN, gives their least number, as
/// x86-64 and therefore NumPy and most libraries there have it.
inline int32_t float_to_int32(double x) {
  return x > -2147483649.0 && x < 2147483648.0 ? static_cast<int32_t>(x)
                                               : std::numeric_limits<int32_t>::min();
}
inline int64_t float_to_int64(double x) {
  return x >= -0x1p63 && x < 0x1p63 ? static_cast<int64_t>(x) : std::numeric_limits<int64_t>::min();
}
/// Up to 2^63 as int64, modulo 2^64; from 2^64 on 0.
inline uint64_t float_to_uint64(double x) {
  if (!(x >= 0x1p63)) return static_cast<uint64_t>(float_to_int64(x));
  return x < 0x1p64 ? static_cast<uint64_t>(x) : 0;
}

/// Integers are taken modulo 2^bits. Floats become int32 first (int8 to int32, uint8, uint16) or
/// int64 (int64, uint32). To bool it is `!= 0`.
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

/// An integer as a value of the dtype `to`, modulo 2^bits; of uint64 the same bits.
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
