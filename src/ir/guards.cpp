// `static T x = make();` in a function: the compiler calls these three functions of the C++ ABI to make x once. The
// standard library's would have a forked child wait for ever if another thread was making x; ours have the child make
// it, and what that thread had begun is lost. They hold for this library, oneDNN's headers included.
#include <atomic>
#include <cstdint>

#include "ir/fork.h"

namespace horngate {
namespace {

/// Of the 64 bits that the compiler gives each static the first byte says whether it is made, which compiled code reads
/// itself. The upper half is ours: who makes it, 0 if nobody does.
struct Guard {
  std::atomic<uint8_t> is_made;
  std::atomic<uint32_t> maker;
};
static_assert(sizeof(Guard) == sizeof(uint64_t));

/// Makers of this process. What is left of those of its parent is an earlier number.
uint32_t now() { return 2 * detail::fork_generation.load(std::memory_order_relaxed) + 1; }

void end(Guard& g) {
  g.maker.store(0, std::memory_order_release);
  g.maker.notify_all();
}

/// True: the caller makes it, and says how that ended. False: it is made.
bool begin(Guard& g) {
  while (!g.is_made.load(std::memory_order_acquire)) {
    uint32_t maker = g.maker.load(std::memory_order_acquire);
    if (maker == now()) {
      g.maker.wait(maker, std::memory_order_acquire);
    } else if (g.maker.compare_exchange_strong(maker, now(), std::memory_order_acq_rel)) {
      if (!g.is_made.load(std::memory_order_acquire)) return true;
      end(g);  // another thread came first
    }
  }
  return false;
}

Guard& guard_at(uint64_t* place) { return *reinterpret_cast<Guard*>(place); }

}  // namespace
}  // namespace horngate

extern "C" {

[[gnu::visibility("hidden")]] int __cxa_guard_acquire(uint64_t* place) {
  return horngate::begin(horngate::guard_at(place));
}

[[gnu::visibility("hidden")]] void __cxa_guard_release(uint64_t* place) {
  horngate::Guard& g = horngate::guard_at(place);
  g.is_made.store(1, std::memory_order_release);
  horngate::end(g);
}

/// An exception: the next thread tries.
[[gnu::visibility("hidden")]] void __cxa_guard_abort(uint64_t* place) {
  horngate::end(horngate::guard_at(place));
}
}
