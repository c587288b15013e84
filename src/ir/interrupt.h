// Stopping the work of a thread: Ctrl-C, and flags that a program sets.
#pragma once

#include <atomic>
#include <cstdint>

namespace horngate {

/// While a thread has one, calls on it give up once *stop is true.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>* stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;

 private:
  const std::atomic<bool>* before_;
};

/// Called about every 20 ms while a thread works; non-zero interrupts it. For Ctrl-C in Python.
void set_interrupt_check(int (*check)());

/// Whether anything could stop this thread.
bool may_be_stopped();
/// Whether this thread should stop now. Costs a few nanoseconds.
bool shall_stop();
/// Throws Interrupted.
[[noreturn]] void stop_now();

/// The last check for a stop before results become visible, since steps check for Ctrl-C only every 20 ms and a stopped
/// call must not change variables. Calls under a few milliseconds skip Ctrl-C: checking costs as much as they do.
class LastChance {
 public:
  LastChance();
  void stop_if_asked() const;

 private:
  int64_t began_;
};

namespace detail {
extern constinit thread_local uint32_t polls;
void poll();
}  // namespace detail

/// Throws Interrupted when the thread should stop. For loops over graphs whose steps take about a microsecond.
inline void stop_if_asked() {
  if (++detail::polls % 128 == 0) detail::poll();
}

}  // namespace horngate
