// Random numbers: Philox4x32-10 of Salmon et al. (SC 2011), a bijection of 128-bit counters under a
// 64-bit key. A number depends only on seed, draw, step and its position, never on threads or
// extent.
//
//   key      = seed
//   counter  = low 64 bits: block number; high 64 bits: draw ^ rotl(step, 40)
//
// so streams of one seed are disjoint for draws < 2^40 and steps < 2^24. Eight blocks make a group
// of 128 bytes: first words 0 and 1 of each block, then words 2 and 3 of each block. This is the
// order in which vectors of 64-bit lanes produce them, whatever their width. Element i takes its
// share of the bytes: 32 bits for float32, 64 bits for float64; the normal distribution makes two
// elements from two, half a group apart.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "engines/native/kernel.h"

namespace horngate::native::kernels::random {

using Words = std::array<uint32_t, 4>;

inline constexpr uint32_t kMultiplier[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr uint32_t kWeyl[2] = {0x9E3779B9, 0xBB67AE85};
inline constexpr int kRounds = 10;
inline constexpr int64_t kBlocksPerGroup = 8;
inline constexpr int64_t kGroupBytes = 16 * kBlocksPerGroup;

/// The reference, one block.
inline Words philox4x32(Words c, uint64_t key) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t p0 = uint64_t{kMultiplier[0]} * c[0], p1 = uint64_t{kMultiplier[1]} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += kWeyl[0];
    k1 += kWeyl[1];
  }
  return c;
}

struct Stream {
  uint64_t key;
  uint64_t high;  // upper half of the counter
};

inline Stream stream_of(int64_t seed, uint64_t draw, uint64_t step) {
  return {static_cast<uint64_t>(seed), draw ^ std::rotl(step, 40)};
}

enum class Law : uint8_t { bits, uniform, normal, truncated_normal };

/// Groups [first, first + count) of a stream under a distribution, as 32 floats or 16 doubles each.
/// The same bits on every CPU.
void generate(Law law, Stream stream, uint64_t first, int64_t count, float* out);
void generate(Law law, Stream stream, uint64_t first, int64_t count, double* out);
/// The bits themselves, 32 words each.
void generate_bits(Stream stream, uint64_t first, int64_t count, uint32_t* out);
/// 1 where the word is below the bound, else 0; 32 floats each.
void generate_below(uint32_t bound, Stream stream, uint64_t first, int64_t count, float* out);

/// A kernel may be asked for a part of its result that starts at a multiple of this.
inline constexpr int64_t kPartUnit = kGroupBytes / 4;

/// The kernel of a distribution over a float dtype.
KernelPtr make_law(const KernelCall& call, Law law, int64_t seed);

}  // namespace horngate::native::kernels::random
