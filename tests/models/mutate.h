// Damage to files: what a random disk, a bad cable and an enemy do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace horngate::testing {

using Corpus = std::vector<std::vector<std::byte>>;

/// One of the files with one to eight damages.
inline std::vector<std::byte> mutated(const Corpus& corpus, std::mt19937_64& random) {
  const auto below = [&](uint64_t n) { return n == 0 ? 0 : random() % n; };
  std::vector<std::byte> bytes = corpus[below(corpus.size())];
  const auto put = [&](size_t at, uint64_t value, size_t width) {
    for (size_t i = 0; i < width && at + i < bytes.size(); ++i)
      bytes[at + i] = static_cast<std::byte>(value >> 8 * i);
  };
  const auto get = [&](size_t at) {
    uint64_t value = 0;
    if (at + 8 <= bytes.size()) std::memcpy(&value, &bytes[at], 8);
    return value;
  };
  for (uint64_t n = 1 + below(8); n > 0 && !bytes.empty(); --n) {
    const size_t at = below(bytes.size()), aligned = at / 8 * 8;
    switch (below(9)) {
      case 0: bytes[at] ^= static_cast<std::byte>(1 << below(8)); break;
      case 1: bytes[at] = static_cast<std::byte>(random()); break;
      case 2: {
        constexpr uint64_t kOdd[] = {0,    1,      2,          7,          8,         0x7F,
                                     0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, INT64_MAX, UINT64_MAX};
        put(at, kOdd[below(std::size(kOdd))], size_t{1} << below(4));
        break;
      }
      case 3: put(aligned, below(bytes.size() + 64), 8); break;
      case 4:
        put(aligned, get(below(bytes.size()) / 8 * 8), 8);
        break;  // an address of another thing
      case 5: put(aligned, get(aligned) + below(17) - 8, 8); break;
      case 6: bytes.resize(below(bytes.size() + 1)); break;
      case 7: {
        const size_t size = std::min(below(64), bytes.size() - at);
        const size_t to = below(bytes.size() - size);
        std::memmove(&bytes[to], &bytes[at], size);
        break;
      }
      default: {
        std::vector<std::byte> more(1 + below(16));
        for (std::byte& b : more) b = static_cast<std::byte>(random());
        bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), more.begin(), more.end());
      }
    }
  }
  return bytes;
}

}  // namespace horngate::testing
