// The one thread pool. parallel_for splits [0, n) into chunks; small work stays on the calling thread.
#pragma once

#include <cstdint>
#include <type_traits>

namespace horngate::native {

/// Threads used by a parallel_for, the caller among them (HORNGATE_NUM_THREADS, default: the CPUs we may use); fewer
/// where the system does not give that many.
int thread_count();
void set_thread_count(int n);  // 0: back to the default

namespace detail {
using Chunk = void (*)(void* context, int64_t begin, int64_t end);
void parallel_for(int64_t n, int64_t grain, Chunk chunk, void* context);
}  // namespace detail

/// Calls f(begin, end) on disjoint ranges that cover [0, n), equal ones of some `grain` or more. What f throws comes
/// out once all threads are done; some ranges are then left out. So does Interrupted, in a call that is stopped. Results must not depend on where the cuts are: sums that cross chunks need fixed blocks.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f) {
  using Fn = std::remove_reference_t<F>;
  if (n <= 0) return;
  detail::parallel_for(
      n, grain < 1 ? 1 : grain,
      [](void* context, int64_t begin, int64_t end) { (*static_cast<Fn*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

/// Index of the calling thread in the current parallel_for: 0 .. thread_count() - 1.
int thread_index();

}  // namespace horngate::native
