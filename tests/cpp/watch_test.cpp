// Agreements of ranks that are processes, some of which are killed meanwhile.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <random>
#include <thread>

#include "comm/watch.h"
#include "sanitizers.h"

namespace horngate::comm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr int kMostRanks = 7, kAgreements = 5;

struct Decision {
  uint64_t ranks = 0, flags = 0;  // ranks: a bit for each
  bool operator==(const Decision&) const = default;
};

/// What the ranks of one run write for each other and for the test, in memory that they share.
struct Board {
  std::atomic<int> listening{0}, watching{0};
  Identity all[kMostRanks];
  std::atomic<int> decided[kMostRanks];
  Decision decisions[kMostRanks][kAgreements];
  char error[kMostRanks][200];
};

uint64_t flags_of(uint32_t seed, int rank, int agreement) {
  std::mt19937_64 random(seed * 1000u + static_cast<uint32_t>(rank * 10 + agreement));
  return random() | random();
}

void meet(std::atomic<int>& count, int n) {
  ++count;
  while (count < n) std::this_thread::yield();
}

/// When a rank is killed: so many microseconds after it has come to an agreement; -1: never.
struct Death {
  int agreement = -1, microseconds = 0;
};

/// A rank: it agrees, and ends as soon as it knows the last decision, whoever else knows it.
void be_rank(Board& board, uint32_t seed, int rank, int n, const Death& death) {
  std::mt19937 random(seed * 100u + static_cast<uint32_t>(rank));
  Identity self = own_identity();
  Socket listener = listen_on_free_port(false, self.port);
  board.all[rank] = self;
  meet(board.listening, n);
  Watch watch(
      rank, {board.all, board.all + n}, std::move(listener), [](const Event&) {},
      [] { return Watch::Place(); });
  meet(board.watching, n);
  for (int k = 0; k < kAgreements; ++k) {
    if (random() % 4 == 0) std::this_thread::sleep_for(microseconds(random() % 1000));
    if (k == death.agreement)
      std::thread([&death, from = Clock::now()] {
        while (Clock::now() < from + microseconds(death.microseconds)) {
        }
        kill(getpid(), SIGKILL);
      }).detach();
    const Watch::Survivors s = watch.agree(flags_of(seed, rank, k), 10, {});
    Decision& d = board.decisions[rank][k];
    d.flags = s.flags;
    for (const int r : s.ranks) d.ranks |= uint64_t{1} << r;
    board.decided[rank] = k + 1;
  }
  if (death.agreement >= 0) pause();
}

/// Waits for its end; false if that takes too long.
bool wait_for(pid_t child, Clock::time_point until, int& status) {
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(microseconds(200));
  }
  return true;
}

void kill_ranks_that_agree(uint32_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const int n = 2 + static_cast<int>(random() % (kMostRanks - 1));
  // The first ranks are killed more often than others, but never all.
  std::vector<Death> deaths(static_cast<size_t>(n));
  const int survivor = static_cast<int>(random() % static_cast<uint32_t>(n));
  uint64_t killed = 0;
  for (int r = 0; r < n; ++r)
    if (r != survivor && random() % 4 < (r < 2 ? 3 : 1)) {
      deaths[static_cast<size_t>(r)] = {static_cast<int>(random() % kAgreements),
                                        static_cast<int>(random() % 600)};
      killed |= uint64_t{1} << r;
    }

  void* const memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Board& board = *new (memory) Board();
  std::vector<pid_t> children;
  for (int r = 0; r < n; ++r) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    try {
      be_rank(board, seed, r, n, deaths[static_cast<size_t>(r)]);
      _exit(0);
    } catch (const std::exception& e) {
      std::strncpy(board.error[r], e.what(), sizeof board.error[r] - 1);
      _exit(1);
    }
  }
  // Nobody needs the seconds after which ranks that do not come are given up.
  const auto until = Clock::now() + std::chrono::seconds(8);
  for (int r = 0; r < n; ++r) {
    int status = 0;
    const bool has_ended = wait_for(children[static_cast<size_t>(r)], until, status);
    EXPECT_TRUE(has_ended) << "rank " << r << " of " << n << " hangs in agreement "
                           << board.decided[r] + 1;
    if (!has_ended) {
      kill(children[static_cast<size_t>(r)], SIGKILL);
      waitpid(children[static_cast<size_t>(r)], &status, 0);
    }
    if (killed >> r & 1) continue;
    EXPECT_EQ(status, 0) << "rank " << r << " of " << n << ": " << board.error[r];
    EXPECT_EQ(board.decided[r], kAgreements) << "rank " << r << " of " << n;
  }
  const uint64_t well = ((uint64_t{1} << n) - 1) & ~killed;
  for (int k = 0; k < kAgreements; ++k) {
    const Decision& d = board.decisions[survivor][k];
    EXPECT_EQ(d.ranks & well, well) << "agreement " << k << " of " << n << " ranks leaves one out";
    uint64_t flags = ~uint64_t{0};
    for (int r = 0; r < n; ++r) {
      if (d.ranks >> r & 1) flags &= flags_of(seed, r, k);
      if (board.decided[r] > k) {  // also those that were killed after it
        EXPECT_EQ(board.decisions[r][k], d)
            << "agreement " << k << " of " << n << " ranks, rank " << r;
      }
    }
    EXPECT_EQ(d.flags, flags) << "agreement " << k << " of " << n << " ranks";
  }
  munmap(memory, sizeof(Board));
}

TEST(Watch, RanksThatAreLeftAgreeWhoeverIsKilledAtAnyMoment) {
  if (horngate::testing::kThreadSanitizer) GTEST_SKIP() << horngate::testing::kNoForks;
  static uint32_t seed = 0;  // others each time that the test is repeated
  for (int i = 0; i < 30 && !HasFailure(); ++i) kill_ranks_that_agree(++seed);
}

}  // namespace
}  // namespace horngate::comm
