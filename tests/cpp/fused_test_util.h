// Helpers of the fused_*_test.cpp files.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engines/native/fused/group.h"
#include "engines/native/fused/simd.h"
#include "engines/native/threads.h"

namespace horngate::native::fused {

/// Calls f once per instruction set that this CPU has.
template <class F>
void for_each_simd(F f) {
  for (const char* name : simd_targets()) {
    SCOPED_TRACE(name);
    set_simd_target(name);
    f();
  }
  set_simd_target("");
}

inline Ints row_major(const Ints& extent) {
  Ints stride(extent.size(), 1);
  for (size_t i = extent.size(); i-- > 1;) stride[i - 1] = stride[i] * extent[i];
  return stride;
}

/// Contiguous inputs and outputs of n elements.
inline std::unique_ptr<Group> flat_group(Program program, int64_t n) {
  std::vector<Access> in(program.inputs.size(), Access{{1}, 0});
  std::vector<Access> out(program.outputs.size(), Access{{1}, 0});
  return Group::make(std::move(program), Ints{n}, std::move(in), std::move(out));
}

inline void run(const Group& group, std::vector<const void*> in, std::vector<void*> out) {
  std::vector<unsigned char> scratch(group.scratch_bytes() + 64);
  group.run(in.data(), out.data(), scratch.data());
}

template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

/// The number of representable values between them, about; 0 if both are NaN.
template <class T>
double ulps(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : 1e30;
  if (got == rounded) return 0;
  constexpr T kMax = std::numeric_limits<T>::max();
  // Infinity stands for the number after the largest.
  const auto finite = [&](long double v) {
    const long double step = static_cast<long double>(kMax) - std::nextafter(kMax, T(0));
    return std::isinf(static_cast<T>(v)) ? std::copysign(kMax + step, v) : v;
  };
  const T size = std::min(std::fabs(rounded), std::nextafter(kMax, T(0)));
  const long double step = std::nextafter(size, kMax) - static_cast<long double>(size);
  return static_cast<double>(std::fabs(finite(got) - finite(want)) / step);
}

}  // namespace horngate::native::fused
