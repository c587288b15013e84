#include "ir/fork.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <iterator>

namespace horngate {
namespace detail {

constinit Stripe leaf_stripes[kStripes];
constinit std::atomic<uint32_t> fork_generation{0};
constinit std::mutex renewal;

}  // namespace detail

namespace {

using detail::kStripes;

/// How many threads hold forks off. Striped, so that threads seldom share a cache line.
struct alignas(64) Count {
  std::atomic<uint32_t> threads{0};
};
constinit Count hold_counts[kStripes];
constinit std::atomic<uint32_t> threads_seen{0};
constinit std::mutex fork_mutex;             // forks take turns
constinit std::atomic<bool> forking{false};  // no new holds

struct Holds {
  uint32_t depth = 0, stripe = kStripes;
};
constinit thread_local Holds holds;

/// What AtFork and in_forked_child were given: a few, all known once the library is loaded.
struct Registered {
  static constexpr size_t kMost = 32;
  std::mutex* mutex[kMost] = {};
  ForkOrder order[kMost] = {};
  size_t mutexes = 0;
  void (*action[kMost])() = {};
  size_t actions = 0;
};
constinit Registered registered;

template <class F>
void for_each_lock(ForkOrder order, F f) {
  if (order == ForkOrder::leaves)
    for (detail::Stripe& s : detail::leaf_stripes) f(s.mutex);
  for (size_t i = 0; i < registered.mutexes; ++i)
    if (registered.order[i] == order) f(*registered.mutex[i]);
}

constexpr ForkOrder kOrders[] = {ForkOrder::registry, ForkOrder::config, ForkOrder::phase,
                                 ForkOrder::pool,     ForkOrder::owners, ForkOrder::leaves,
                                 ForkOrder::last};

void before() {
  fork_mutex.lock();
  forking.store(true);
  for (size_t i = 0; i < kStripes; ++i) {
    // A thread that forks while it has a hold itself must not wait for itself.
    const uint32_t own = holds.depth > 0 && holds.stripe == i;
    for (int spins = 0; hold_counts[i].threads.load() != own; ++spins)
      spins < 1000 ? sched_yield() : usleep(50);
  }
  for (const ForkOrder order : kOrders) for_each_lock(order, [](std::mutex& m) { m.lock(); });
  detail::renewal.lock();
}

void after() {
  detail::renewal.unlock();
  for (size_t i = std::size(kOrders); i-- > 0;)
    for_each_lock(kOrders[i], [](std::mutex& m) { m.unlock(); });
  forking.store(false);
  forking.notify_all();
  fork_mutex.unlock();
}

void in_child() {
  detail::fork_generation.fetch_add(1, std::memory_order_relaxed);
  // A thread that was just about to wait for the fork may still be in the count.
  for (size_t i = 0; i < kStripes; ++i)
    hold_counts[i].threads = holds.depth > 0 && holds.stripe == i;
  for (size_t i = 0; i < registered.actions; ++i) registered.action[i]();
  after();
}

[[maybe_unused]] const int watching = pthread_atfork(before, after, in_child);

}  // namespace

AtFork::AtFork(std::mutex& mutex, ForkOrder order) {
  if (registered.mutexes == Registered::kMost) __builtin_trap();  // raise the constant
  registered.mutex[registered.mutexes] = &mutex;
  registered.order[registered.mutexes++] = order;
}

void in_forked_child(void (*action)()) {
  if (registered.actions == Registered::kMost) __builtin_trap();
  registered.action[registered.actions++] = action;
}

ForkHold::ForkHold() {
  if (holds.depth++ > 0) return;
  if (holds.stripe == kStripes)
    holds.stripe = threads_seen.fetch_add(1, std::memory_order_relaxed) % kStripes;
  std::atomic<uint32_t>& count = hold_counts[holds.stripe].threads;
  // Either a fork sees the count, or we see the fork: both sides write first, then read.
  while (count.fetch_add(1), forking.load()) {
    count.fetch_sub(1);
    forking.wait(true);
  }
}

ForkHold::~ForkHold() {
  if (--holds.depth == 0) hold_counts[holds.stripe].threads.fetch_sub(1, std::memory_order_release);
}

}  // namespace horngate
