// for_units: runs numbered pieces of work on the pool; each worker has its own slot of scratch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engines/native/shares.h"
#include "engines/native/threads.h"
#include "ir/align.h"

namespace horngate::native {

/// How many slots of scratch a kernel with that many pieces of work should ask for when it is made.
inline int64_t slots_for(int64_t units) {
  return std::clamp<int64_t>(units, 1, std::max(1, thread_count()));
}

/// Calls f(slot, unit) for each unit; no two calls with the same slot overlap. Each slot starts
/// with neighbouring units and then helps the others, so what a unit writes must not depend on its
/// slot. f must not throw.
template <class F>
void for_units(int64_t units, int64_t slots, F&& f) {
  if (slots <= 1 || units <= 1) {
    for (int64_t unit = 0; unit < units; ++unit) f(int64_t{0}, unit);
    return;
  }
  Shares shares;
  const int takers = static_cast<int>(std::min(slots, units));
  shares.divide(units, takers);
  parallel_for(takers, 1, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot)
      for (int64_t unit; shares.take(static_cast<int>(slot), unit);) f(slot, unit);
  });
}

}  // namespace horngate::native
