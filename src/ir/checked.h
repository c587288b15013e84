// Arithmetic on sizes: a result that exceeds 64 bits, or any memory, is an error that says so.
#pragma once

#include <string_view>

#include "ir/check.h"
#include "ir/type.h"

namespace horngate {

/// The most bytes that one value may have: more than a process can address, yet small enough that the sum over
/// thousands of values fits into 64 bits.
inline constexpr int64_t kMostBytes = int64_t{1} << 48;
/// The largest stride, step or distance; the product of two fits into 64 bits.
inline constexpr int64_t kMostStep = INT32_MAX;

[[noreturn]] void fail_large(std::string_view function, int64_t a, char operation, int64_t b);

inline int64_t checked_add(std::string_view function, int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) [[unlikely]]
    fail_large(function, a, '+', b);
  return sum;
}

inline int64_t checked_mul(std::string_view function, int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) [[unlikely]]
    fail_large(function, a, '*', b);
  return product;
}

/// Fails when the known dimensions alone make the value larger than kMostBytes, even if one of them is 0:
/// strides are products of the others.
void check_size(std::string_view function, const TensorType& t);

}  // namespace horngate
