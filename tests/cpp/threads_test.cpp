// Who gets which piece of a parallel loop.
#include "engines/native/threads.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "engines/native/kernels/workers.h"
#include "engines/native/shares.h"
#include "gtest/gtest.h"

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

}  // namespace
}  // namespace horngate::native
