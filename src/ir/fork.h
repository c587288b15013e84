// Locks and fork(). A child has only the thread that forked. Whatever the other threads held would stay locked in it
// for ever, over data that may be half changed. So there are two kinds of locks.
// Held for moments: a fork waits for them, and the child finds them free and the data whole. These are std::mutex with
// an AtFork beside it (one per process), LeafMutex (for objects that exist in large numbers) and ForkHold (without data
// of ours: around calls into libraries that lock something themselves, and changes of several values together).
// Held while something runs, so that a fork must not wait for them: ForkMutex and ForkSharedMutex. A child forgets who
// held them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <shared_mutex>

namespace horngate {

/// Forks take the locks in this order: while holding one, a thread may only wait for later ones. Nothing else may be
/// locked under `last`.
enum class ForkOrder { registry, config, phase, pool, owners, leaves, last };

/// Makes each fork wait for a mutex that lives as long as the process.
class AtFork {
 public:
  AtFork(std::mutex& mutex, ForkOrder order);
};

/// Registers what a child does first, besides unlocking.
void in_forked_child(void (*action)());

namespace detail {

struct alignas(64) Stripe {
  std::mutex mutex;
};
inline constexpr unsigned kStripeBits = 6, kStripes = 1u << kStripeBits;
extern Stripe leaf_stripes[kStripes];

extern std::atomic<uint32_t> fork_generation;  // forks between the first process and this one
extern std::mutex renewal;

}  // namespace detail

/// A lock of one object, held for moments. Objects share a few real mutexes, so while it is held only a mutex of
/// ForkOrder::last may be waited for.
class LeafMutex {
 public:
  LeafMutex() = default;
  LeafMutex(const LeafMutex&) = delete;
  LeafMutex& operator=(const LeafMutex&) = delete;
  void lock() { stripe().lock(); }
  bool try_lock() { return stripe().try_lock(); }
  void unlock() { stripe().unlock(); }

 private:
  std::mutex& stripe() const {
    const uint64_t mixed = reinterpret_cast<uintptr_t>(this) * 0x9e3779b97f4a7c15ull;
    return detail::leaf_stripes[mixed >> (64 - detail::kStripeBits)].mutex;
  }
};

/// While a thread has one, no other thread forks. Take it before all other locks that a fork waits for; holds nest.
class ForkHold {
 public:
  ForkHold();
  ~ForkHold();
  ForkHold(const ForkHold&) = delete;
  ForkHold& operator=(const ForkHold&) = delete;
};

/// A lock that is held while something runs. A child finds it free, whoever held it before, so what it guards must be
/// whole at every moment or change only under a ForkHold.
template <class M>
class Forgetful {
 public:
  Forgetful() = default;
  Forgetful(const Forgetful&) = delete;
  Forgetful& operator=(const Forgetful&) = delete;

  void lock() { now().lock(); }
  bool try_lock() { return now().try_lock(); }
  void unlock() {
    if (is_ours()) mutex_.unlock();
  }
  void lock_shared() { now().lock_shared(); }
  void unlock_shared() {
    if (is_ours()) mutex_.unlock_shared();
  }

 private:
  bool is_ours() const {
    return generation_.load(std::memory_order_acquire) ==
           detail::fork_generation.load(std::memory_order_relaxed);
  }
  M& now() {
    if (!is_ours()) [[unlikely]]
      renew();
    return mutex_;
  }
  [[gnu::noinline]] void renew() {
    const std::lock_guard lock(detail::renewal);
    if (is_ours()) return;
    new (&mutex_) M;  // the old one needs no destructor
    generation_.store(detail::fork_generation.load(std::memory_order_relaxed),
                      std::memory_order_release);
  }

  M mutex_;
  std::atomic<uint32_t> generation_{detail::fork_generation.load(std::memory_order_relaxed)};
};
using ForkMutex = Forgetful<std::mutex>;
using ForkSharedMutex = Forgetful<std::shared_mutex>;

}  // namespace horngate
