// Memory that we allocate starts at a multiple of 64 bytes, as SIMD and the engines want it.
#pragma once

#include <cstddef>

namespace horngate {

/// Rounds up, so that what follows is aligned too.
constexpr size_t aligned_bytes(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

}  // namespace horngate
