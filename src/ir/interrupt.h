// Stopping what a thread does: Ctrl-C, and flags of a program.
#pragma once

#include <atomic>
#include <cstdint>

namespace horngate {

/// While one is alive on a thread, calls on it give up once *stop is true.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>* stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;

 private:
  const std::atomic<bool>* before_;
};

/// Asked about every 20 ms while a thread works; non-zero interrupts it. For Ctrl-C in Python.
void set_interrupt_check(int (*check)());

/// Whether there is anything that could stop this thread.
bool may_be_stopped();
/// Whether this thread shall stop. Costs some nanoseconds.
bool shall_stop();
/// Throws Interrupted.
[[noreturn]] void stop_now();

namespace detail {
extern constinit thread_local uint32_t polls;
void poll();
}  // namespace detail

/// For loops over graphs, each step of which takes a microsecond or so: throws Interrupted when the thread shall stop.
inline void stop_if_asked() {
  if (++detail::polls % 128 == 0) detail::poll();
}

}  // namespace horngate
