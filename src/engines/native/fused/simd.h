// The instruction set that fused groups use: the best one of the CPU, or a forced one.
#pragma once

#include <string_view>
#include <vector>

#include "engines/native/fused/kernels.h"

namespace horngate::native::fused {

enum class Simd : uint8_t { scalar, sse4, avx2, avx512 };
inline constexpr int kSimdCount = 4;

/// "scalar", "sse4", "avx2" or "avx512"; "" restores the best. ValueError for another name or one
/// that this CPU lacks. Groups keep the kernels they were made with. The environment variable
/// HORNGATE_SIMD does the same at startup, for all of our kernels.
void set_simd_target(std::string_view name);
/// The name in force.
const char* simd_target();
/// The names that this CPU can run, worst first.
std::vector<const char*> simd_targets();

/// Kernels of the instruction set in force.
const Kernels& kernels();

// Each ops_*.cpp fills its part of the table for one instruction set.
void fill_float(Simd simd, Kernels& k);
void fill_math_f32(Simd simd, Kernels& k);
void fill_math_f64(Simd simd, Kernels& k);
void fill_int(Simd simd, Kernels& k);
void fill_compare(Simd simd, Kernels& k);
void fill_cast(Simd simd, Kernels& k);
void fill_load_store(Simd simd, Kernels& k);
void fill_fold(Simd simd, Kernels& k);

}  // namespace horngate::native::fused
