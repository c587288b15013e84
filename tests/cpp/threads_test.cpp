// Who gets which piece of a parallel loop.
#include "engines/native/threads.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engines/native/kernels/workers.h"
#include "engines/native/late_library.h"
#include "engines/native/shares.h"
#include "gtest/gtest.h"
#include "sanitizers.h"

namespace horngate::native {
namespace {

/// The pieces that a taker gets when it is alone.
std::vector<int64_t> taken(Shares& shares, int taker, int64_t most) {
  std::vector<int64_t> pieces;
  for (int64_t piece; static_cast<int64_t>(pieces.size()) < most && shares.take(taker, piece);)
    pieces.push_back(piece);
  return pieces;
}

TEST(Shares, TakersBeginWithNeighboursOfTheirOwn) {
  Shares shares;
  shares.divide(10, 3);
  EXPECT_EQ(taken(shares, 1, 2), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(taken(shares, 0, 2), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(taken(shares, 2, 2), (std::vector<int64_t>{7, 8}));
}

TEST(Shares, TakersThatAreDoneHelpTheOthers) {
  Shares shares;
  shares.divide(10, 3);
  EXPECT_EQ(taken(shares, 2, 99), (std::vector<int64_t>{7, 8, 9, 0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(taken(shares, 0, 99), std::vector<int64_t>{});
}

TEST(Shares, AreDividedAgainAndMayBeEmpty) {
  Shares shares;
  shares.divide(7, 2);
  taken(shares, 0, 5);
  shares.divide(2, 4);
  EXPECT_EQ(taken(shares, 3, 99), (std::vector<int64_t>{0, 1}));
  shares.divide(0, 2);
  EXPECT_EQ(taken(shares, 0, 99), std::vector<int64_t>{});
}

TEST(Shares, MoreTakersThanSharesGetEveryPieceOnce) {
  constexpr int kTakers = 2 * Shares::kMost + 1, kPieces = 5000;
  Shares shares;
  shares.divide(kPieces, kTakers);
  std::vector<std::atomic<int>> times(kPieces);
  std::vector<std::thread> takers;
  for (int t = 0; t < kTakers; ++t)
    takers.emplace_back([&, t] {
      for (int64_t piece; shares.take(t, piece);) ++times[static_cast<size_t>(piece)];
    });
  for (std::thread& t : takers) t.join();
  for (const auto& n : times) ASSERT_EQ(n, 1);
}

TEST(Threads, LoopsCoverEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    for (const int64_t n : {1, 2, 29, 1000})
      for (const int64_t grain : {1, 3, 64}) {
        std::vector<std::atomic<int>> times(static_cast<size_t>(n));
        parallel_for(n, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++times[static_cast<size_t>(i)];
        });
        for (const auto& count : times) ASSERT_EQ(count, 1);
      }
  }
  set_thread_count(0);
}

TEST(Threads, UnitsRunOnceAndSlotsNeverOverlap) {
  set_thread_count(3);
  std::vector<std::atomic<int>> times(500);
  std::vector<std::atomic<bool>> busy(3);
  std::atomic<bool> overlapped = false;
  for_units(500, 3, [&](int64_t slot, int64_t unit) {
    if (busy[static_cast<size_t>(slot)].exchange(true)) overlapped = true;
    ++times[static_cast<size_t>(unit)];
    busy[static_cast<size_t>(slot)] = false;
  });
  set_thread_count(0);
  EXPECT_FALSE(overlapped);
  for (const auto& count : times) ASSERT_EQ(count, 1);
}

TEST(Threads, WhatALoopThrowsComesOut) {
  set_thread_count(3);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> calls{0};
    const auto loop = [&](bool in_workers) {
      parallel_for(300, 1, [&](int64_t, int64_t) {
        ++calls;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        if (in_workers == (thread_index() != 0)) throw std::runtime_error("stop");
      });
    };
    EXPECT_THROW(loop(false), std::runtime_error);
    EXPECT_THROW(loop(true), std::runtime_error);
    std::atomic<int64_t> sum{0};
    parallel_for(300, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    EXPECT_EQ(sum, 300);
  }
  set_thread_count(0);
}

/// Bytes of address space in use.
size_t address_space() {
  size_t pages = 0;
  if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%zu", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

#if !HORNGATE_SANITIZED  // sanitizers need terabytes
// A thread takes 8 MB of it for its stack.
TEST(Threads, FewerThanWereAskedForWillDo) {
  for (const size_t room : {size_t{0}, size_t{100} << 20}) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      const rlimit limit{address_space() + room, RLIM_INFINITY};
      if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
      set_thread_count(1024);
      bool well = true;
      for (int round = 0; round < 5; ++round) {
        std::atomic<int64_t> sum{0};
        parallel_for(100'000, 10, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) sum += i;
        });
        well &= sum == int64_t{100'000} * 99'999 / 2;
      }
      sigset_t blocked;
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      _exit(well && !sigismember(&blocked, SIGINT) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "room " << room << ", signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0) << "room " << room;
  }
}

// As oneDNN does when it has no memory for a kernel.
TEST(LateLibrary, ExceptionsPassThroughTheCLibraryWithoutMemory) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const LateLibrary library("test", "libm.so.6");
    const rlimit limit{address_space() + (size_t{16} << 20), RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    void* volatile taken = nullptr;  // volatile: a compiler may leave out memory that is not used
    for (size_t n = 1 << 20; n >= 16; n /= 2) do {
        taken = std::malloc(n);
      } while (taken);
    std::once_flag once;
    try {
      std::call_once(once, [] { throw std::bad_alloc(); });
    } catch (const std::bad_alloc&) {
      _exit(0);
    }
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

}  // namespace
}  // namespace horngate::native
