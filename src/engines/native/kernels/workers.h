// for_units: runs numbered pieces of work on the pool, each worker with a slot of scratch of its
// own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "engines/native/threads.h"
#include "ir/align.h"

namespace horngate::native {

/// How many slots of scratch a kernel with that many pieces of work asks for when it is made.
inline int64_t slots_for(int64_t units) {
  return std::clamp<int64_t>(units, 1, std::max(1, thread_count()));
}

/// Calls f(slot, unit) for each unit; no two calls with the same slot overlap. The units go to
/// whoever is free, so what a unit writes must not depend on its slot. f must not throw.
template <class F>
void for_units(int64_t units, int64_t slots, F&& f) {
  if (slots <= 1 || units <= 1) {
    for (int64_t unit = 0; unit < units; ++unit) f(int64_t{0}, unit);
    return;
  }
  std::atomic<int64_t> next{0};
  parallel_for(std::min(slots, units), 1, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot)
      for (int64_t unit; (unit = next.fetch_add(1, std::memory_order_relaxed)) < units;)
        f(slot, unit);
  });
}

}  // namespace horngate::native
