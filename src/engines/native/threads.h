// The one thread pool. parallel_for splits [0, n) into chunks; small work stays on the calling thread.
#pragma once

#include <cstdint>
#include <type_traits>

namespace horngate::native {

/// Threads that a parallel_for uses, including the caller (HORNGATE_NUM_THREADS, default: the CPUs we may use); fewer
/// if the system does not provide that many.
int thread_count();
void set_thread_count(int n);  // 0: back to the default

namespace detail {
using Chunk = void (*)(void* context, int64_t begin, int64_t end);
void parallel_for(int64_t n, int64_t grain, Chunk chunk, void* context);
}  // namespace detail

/// Calls f(begin, end) on disjoint ranges that cover [0, n), of equal size and roughly `grain` or more. If f throws, or
/// the call is stopped (Interrupted), that is rethrown once all threads are done, and some ranges are skipped. Results
/// must not depend on where the cuts are: sums across chunks need fixed blocks.
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
