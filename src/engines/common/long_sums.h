// How long sums are split, for libraries that add element by element and lose digits.
#pragma once

#include <cmath>
#include <cstdint>

namespace horngate::engines {

/// Sums of at least this many elements are made in parts; shorter ones lose little.
inline constexpr int64_t kLongSum = 512;

/// The size of the parts of a sum of n elements: about sqrt(n), and a divisor of n if one is near.
inline int64_t part_of_sum(int64_t n) {
  const auto wanted = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  for (int64_t part = wanted; part >= 1 && part >= wanted / 4; --part)
    if (n % part == 0) return part;
  return wanted;
}

}  // namespace horngate::engines
