// Chooses the instruction set and fills the kernel tables, on first use.
#include "engines/native/fused/simd.h"

#include <atomic>

#include "engines/native/fused/targets.h"
#include "hwy/highway.h"
#include "ir/check.h"
#include "ir/environment.h"
#include "ir/switches.h"

namespace horngate::native::fused {
namespace {

constexpr const char* kNames[kSimdCount] = {"scalar", "sse4", "avx2", "avx512"};

bool supported(int simd) {
  constexpr int64_t kTargets[kSimdCount] = {0, HWY_SSE4, HWY_AVX2, HWY_AVX3};
  return simd == 0 || (hwy::SupportedTargets() & kTargets[simd]) != 0;
}

int best() {
  int simd = kSimdCount - 1;
  while (!supported(simd)) --simd;
  return simd;
}

[[noreturn]] void fail_name(std::string_view who, std::string_view what, std::string_view name) {
  std::string names;
  for (const char* n : simd_targets()) names += text_of(", \"", n, "\"");
  fail(who, what, "must be \"\"", names, " on this CPU; got \"", name, "\".");
}

// -1 if there is no such name or the CPU lacks it.
int find(std::string_view name) {
  for (int i = 0; i < kSimdCount; ++i)
    if (name == kNames[i] && supported(i)) return i;
  return -1;
}

std::atomic<int>& chosen() {
  static std::atomic<int> simd = [] {
    const std::string_view text = environment_text("HORNGATE_SIMD");
    if (text.empty()) return is_plain() ? 0 : best();
    const int forced = find(text);
    if (forced < 0) fail_name("HORNGATE_SIMD", "", text);
    return forced;
  }();
  return simd;
}

template <int kSimd>
const Kernels& table() {
  static const Kernels made = [] {
    Kernels k = {};
    constexpr Simd simd = static_cast<Simd>(kSimd);
    fill_float(simd, k);
    fill_math_f32(simd, k);
    fill_math_f64(simd, k);
    fill_int(simd, k);
    fill_compare(simd, k);
    fill_cast(simd, k);
    fill_load_store(simd, k);
    fill_fold(simd, k);
    return k;
  }();
  return made;
}

}  // namespace

void set_simd_target(std::string_view name) {
  const int simd = name.empty() ? best() : find(name);
  if (simd < 0) fail_name("set_simd_target", "name ", name);
  chosen() = simd;
}

const char* simd_target() { return kNames[chosen()]; }

std::vector<const char*> simd_targets() {
  std::vector<const char*> names;
  for (int i = 0; i < kSimdCount; ++i)
    if (supported(i)) names.push_back(kNames[i]);
  return names;
}

const Kernels& kernels() {
  switch (chosen()) {
    case 3: return table<3>();
    case 2: return table<2>();
    case 1: return table<1>();
  }
  return table<0>();
}

}  // namespace horngate::native::fused
