// Which of Highway's targets this CPU can run. The two functions replace those of Highway's own library, which
// spends milliseconds measuring its timer whenever a program that uses it starts.
#include "engines/native/fused/targets.h"  // before Highway

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "hwy/targets.h"
#include "ir/environment.h"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace {

#if HWY_ARCH_X86

constexpr uint32_t bits(std::initializer_list<int> numbers) {
  uint32_t all = 0;
  for (const int n : numbers) all |= uint32_t{1} << n;
  return all;
}
constexpr bool has(uint32_t found, uint32_t wanted) { return (found & wanted) == wanted; }

/// The registers that the operating system saves for each thread.
uint32_t saved_state() {
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

int64_t find_targets() {
  uint32_t a = 0, b = 0, c1 = 0, d = 0, b7 = 0, c = 0, c_extended = 0;
  __get_cpuid(1, &a, &b, &c1, &d);
  __get_cpuid_count(7, 0, &a, &b7, &c, &d);
  __get_cpuid(0x80000001u, &a, &b, &c_extended, &d);
  int64_t targets = HWY_STATIC_TARGET;
  // SSE3, PCLMUL, SSSE3, SSE4.1, SSE4.2, AES.
  if (!has(c1, bits({0, 1, 9, 19, 20, 25}))) return targets;
  targets |= HWY_SSE4;
  // FMA, OSXSAVE, AVX, F16C; BMI, AVX2, BMI2; LZCNT; vectors of 16 and 32 bytes are saved.
  if (!has(c1, bits({12, 27, 28, 29})) || !has(b7, bits({3, 5, 8})) || !has(c_extended, bits({5})))
    return targets;
  const uint32_t saved = saved_state();
  if (!has(saved, bits({1, 2}))) return targets;
  targets |= HWY_AVX2;
  // AVX-512 F, DQ, CD, BW, VL; masks and vectors of 64 bytes are saved.
  if (has(b7, bits({16, 17, 28, 30, 31})) && has(saved, bits({5, 6, 7}))) targets |= HWY_AVX3;
  return targets;
}

#else

// What the compiler may use in any case.
int64_t find_targets() { return HWY_STATIC_TARGET; }

#endif

/// HORNGATE_SIMD; fused/simd.cpp reports invalid values.
int64_t allowed_targets() {
  const std::string_view name = horngate::environment_text("HORNGATE_SIMD");
  if (name == "scalar") return HWY_STATIC_TARGET;
  if (name == "sse4") return HWY_STATIC_TARGET | HWY_SSE4;
  if (name == "avx2") return HWY_STATIC_TARGET | HWY_SSE4 | HWY_AVX2;
  return ~int64_t{0};
}

}  // namespace

namespace hwy {

int64_t SupportedTargets() {
  static const int64_t targets = find_targets() & allowed_targets();
  return targets;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
