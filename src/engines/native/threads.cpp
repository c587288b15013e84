// The thread pool. Workers spin briefly for the next job, then sleep; a job that finds the pool busy, or is small, runs
// on its caller alone. The pool starts with the first parallel job, starts again in a forked child, and is never
// joined: at exit the process simply ends. If the system gives fewer threads than asked for, it works with those.
#include "engines/native/threads.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "engines/native/callers.h"
#include "engines/native/shares.h"
#include "ir/check.h"
#include "ir/cpus.h"
#include "ir/fork.h"
#include "ir/interrupt.h"
#include "ir/warn.h"

namespace horngate::native {
namespace {

constexpr int kSpins = 4000;     // some tens of microseconds
constexpr int64_t kPieces = 16;  // per thread; a helper then takes little from another's caches
constexpr int64_t kClosed = int64_t{1} << 62;

thread_local int index_of_thread = 0;
thread_local bool owns_the_pool = false;  // nested loops stay on this thread
thread_local bool may_stop = false;       // whether its loops can be interrupted between pieces
thread_local int own_calls = 0;           // its share of active_callers
std::atomic<int> active_callers{0};
std::atomic<int> wanted_threads{0};

class Pool {
 public:
  explicit Pool(int wanted) : wanted_(wanted) {
    // Workers inherit a full mask: signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      for (; workers_ < wanted; ++workers_)
        std::thread([this, index = workers_ + 1] { work(index); }).detach();
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  /// False if another caller has the pool.
  bool run(int64_t n, int64_t chunk, int helpers, detail::Chunk f, void* context) {
    std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner) return false;
    f_ = f;
    context_ = context;
    n_ = n;
    chunk_ = chunk;
    helpers_ = std::min(helpers, workers_);
    shares_.divide((n + chunk - 1) / chunk, helpers_ + 1);
    // Clear only the bit: a worker that came too late for the last job may still be counted.
    gate_.fetch_and(~kClosed, std::memory_order_acq_rel);
    epoch_.fetch_add(1, std::memory_order_release);
    if (sleeping_.load(std::memory_order_acquire) > 0) {
      std::lock_guard lock(mutex_);
      wake_.notify_all();
    }
    take_chunks();
    gate_.fetch_or(kClosed, std::memory_order_acq_rel);
    while ((gate_.load(std::memory_order_acquire) & ~kClosed) != 0) __builtin_ia32_pause();
    if (has_failed_.load(std::memory_order_relaxed)) [[unlikely]] {
      has_failed_ = false;
      std::rethrow_exception(std::exchange(error_, nullptr));
    }
    return true;
  }

  int workers() const { return workers_; }
  int wanted() const { return wanted_; }

 private:
  /// An error reaches the caller once all are done.
  void take_chunks() noexcept {
    try {
      for (int64_t piece;
           !has_failed_.load(std::memory_order_relaxed) && shares_.take(index_of_thread, piece);) {
        if (may_stop && shall_stop()) stop_now();
        const int64_t begin = piece * chunk_;
        f_(context_, begin, std::min(begin + chunk_, n_));
      }
    } catch (...) {
      if (!has_failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  void work(int index) {
    if (!has_memory()) return;
    index_of_thread = index;
    uint64_t seen = 0;
    while (true) {
      int spins = 0;
      while (epoch_.load(std::memory_order_acquire) == seen && spins < kSpins) {
        __builtin_ia32_pause();
        ++spins;
      }
      if (epoch_.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(mutex_);
        sleeping_.fetch_add(1, std::memory_order_acq_rel);
        wake_.wait(lock, [&] { return epoch_.load(std::memory_order_acquire) != seen; });
        sleeping_.fetch_sub(1, std::memory_order_acq_rel);
      }
      seen = epoch_.load(std::memory_order_acquire);
      // Join the open job; if it has closed meanwhile, nobody is needed.
      const int64_t before = gate_.fetch_add(1, std::memory_order_acq_rel);
      if (!(before & kClosed) && before < helpers_) take_chunks();
      gate_.fetch_sub(1, std::memory_order_acq_rel);
    }
  }

  /// Where the library was loaded by a program that runs already (Python), the C library allocates a thread's
  /// thread_locals at their first use, and ends the process if it cannot. What this gives back is enough for them. A worker
  /// that leaves is no loss but for its speed: the others take its pieces. Volatile, as a compiler may leave out a malloc
  /// whose memory is only freed.
  static bool has_memory() {
    void* volatile probe = std::malloc(1 << 14);
    std::free(probe);
    return probe != nullptr;
  }

  const int wanted_;
  int workers_ = 0;
  std::mutex owner_, mutex_;
  std::condition_variable wake_;
  std::atomic<uint64_t> epoch_{0};
  std::atomic<int> sleeping_{0};
  std::atomic<int64_t> gate_{kClosed};
  Shares shares_;
  detail::Chunk f_ = nullptr;
  void* context_ = nullptr;
  int64_t n_ = 0, chunk_ = 1;
  int helpers_ = 0;
  std::atomic<bool> has_failed_{false};
  std::exception_ptr error_;
};

constinit std::mutex pool_mutex;
const AtFork at_fork{pool_mutex, ForkOrder::pool};
std::atomic<Pool*> current_pool{nullptr};

/// A forked child has none of the threads, so its first loop starts new ones.
[[maybe_unused]] const bool starts_again = [] {
  in_forked_child([] {
    current_pool = nullptr;
    active_callers = own_calls;
  });
  return true;
}();

/// A pool that was asked for at least that many workers; null if there is no memory. Old pools stay asleep; they are
/// few and never freed.
Pool* pool(int workers) {
  Pool* p = current_pool.load(std::memory_order_acquire);
  if (p && p->wanted() >= workers) return p;
  {
    std::lock_guard lock(pool_mutex);
    p = current_pool.load();
    if (p && p->wanted() >= workers) return p;
    p = new (std::nothrow) Pool(workers);
    if (!p) return nullptr;
    current_pool.store(p, std::memory_order_release);
  }
  if (p->workers() < workers) {
    try {
      warn(text_of("threads: ", workers + 1, " were requested, but the system provides ",
                   p->workers() + 1, "; Horngate uses those."));
    } catch (...) {  // then there is no warning; the loop itself needs no memory
    }
  }
  return p;
}

/// In pieces, if it may be stopped in between.
void run_alone(int64_t n, int64_t grain, detail::Chunk chunk, void* context) {
  if (!may_stop || n <= grain) return chunk(context, 0, n);
  const int64_t pieces = std::min(kPieces, (n + grain - 1) / grain);
  const int64_t size = (n + pieces - 1) / pieces;
  for (int64_t begin = 0; begin < n; begin += size) {
    if (shall_stop()) stop_now();
    chunk(context, begin, std::min(begin + size, n));
  }
}

struct OwnsThePool {
  OwnsThePool() { owns_the_pool = true; }
  ~OwnsThePool() { owns_the_pool = false; }
};

}  // namespace

int thread_count() {
  int n = wanted_threads.load(std::memory_order_relaxed);
  if (n == 0) {
    n = default_threads();
    wanted_threads.store(n, std::memory_order_relaxed);
  }
  return n;
}

void set_thread_count(int n) { wanted_threads.store(std::max(0, n), std::memory_order_relaxed); }

int thread_index() { return index_of_thread; }

CallerScope::CallerScope(bool stoppable) : before_(std::exchange(may_stop, stoppable)) {
  ++own_calls;
  active_callers.fetch_add(1, std::memory_order_relaxed);
}
CallerScope::~CallerScope() {
  may_stop = before_;
  --own_calls;
  active_callers.fetch_sub(1, std::memory_order_relaxed);
}

void detail::parallel_for(int64_t n, int64_t grain, Chunk chunk, void* context) {
  // Several callers share the threads: each leaves room for the others.
  const int threads =
      thread_count() - std::max(0, active_callers.load(std::memory_order_relaxed) - 1);
  if (threads <= 1 || n <= grain || index_of_thread != 0 || owns_the_pool)
    return run_alone(n, grain, chunk, context);
  const int64_t pieces = std::min<int64_t>(threads * kPieces, (n + grain - 1) / grain);
  const int64_t size = (n + pieces - 1) / pieces;  // pieces of equal size
  {
    const OwnsThePool owner;
    Pool* const p = pool(thread_count() - 1);
    if (p && p->workers() > 0 && p->run(n, size, threads - 1, chunk, context)) return;
  }
  run_alone(n, grain, chunk, context);
}

}  // namespace horngate::native
