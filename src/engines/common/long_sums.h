// How long sums are cut into parts, for libraries that add one element after the other and lose digits.
#pragma once

#include <cmath>
#include <cstdint>

namespace horngate::engines {

/// Elements of a sum that is made in parts; shorter ones lose little.
inline constexpr int64_t kLongSum = 512;

/// How many elements a part of a sum of n has: about sqrt(n), and a divisor of n if one is near.
inline int64_t part_of_sum(int64_t n) {
  const auto wanted = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  for (int64_t part = wanted; part >= 1 && part >= wanted / 4; --part)
    if (n % part == 0) return part;
  return wanted;
}

}  // namespace horngate::engines
