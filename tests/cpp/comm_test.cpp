// Operations of ranks that are threads, against a serial computation; faults, and what they say.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <thread>

#include "comm/buckets.h"
#include "comm/communicator.h"
#include "comm/program.h"
#include "comm_oracle.h"
#include "error_of.h"
#include "ir/interrupt.h"
#include "sanitizers.h"

namespace horngate::comm {
namespace {

using Body = std::function<void(Communicator&)>;

/// One group of threads for each call.
std::string fresh_group() {
  static std::atomic<int> groups{0};
  return "g" + std::to_string(++groups);
}

/// Runs the body on each of n ranks; options may differ from rank to rank.
void on_ranks(int n, const Body& body, double timeout = 20,
              const std::function<Options(int)>& more = {}) {
  setenv("HORNGATE_COMM_PATH", HORNGATE_TEST_COMM_DIR, 1);
  const std::string group = fresh_group();
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r)
    threads.emplace_back([&, r] {
      Options options = {
          {"group", group}, {"rank", std::to_string(r)}, {"ranks", std::to_string(n)}};
      if (more)
        for (auto& o : more(r)) options.push_back(o);
      const auto c = Communicator::open("threads", options, {timeout});
      body(*c);
      c->close();
    });
  for (std::thread& t : threads) t.join();
}

using testing::error_of;

TEST(Comm, RandomOperationsEqualASerialComputation) {
  for (const int n : {1, 2, 3, 4, 7})
    on_ranks(n, [](Communicator& c) {
      for (uint64_t seed = 0; seed < 60; ++seed) {
        const RandomCase one(seed, c.ranks());
        EXPECT_EQ("", one.check(c)) << "seed " << seed;
      }
    });
}

std::vector<float> ones(size_t n) { return std::vector<float>(n, 1.0f); }

TEST(Comm, OperationsRunInTheOrderInWhichTheyWereStarted) {
  on_ranks(
      3,
      [](Communicator& c) {
        std::vector<std::vector<float>> all;
        for (int i = 0; i < 20; ++i) all.push_back(std::vector<float>(1000, static_cast<float>(i)));
        std::vector<Communicator::Ticket> tickets;
        for (auto& x : all) tickets.push_back(c.start(sum_of(x)));
        c.wait(tickets[10]);
        for (size_t i = 0; i <= 10; ++i) EXPECT_TRUE(c.is_done(tickets[i]));
        auto more = ones(5);
        c.run(sum_of(more));  // behind all of them
        for (const auto& t : tickets) EXPECT_TRUE(c.is_done(t));
        for (int i = 0; i < 20; ++i)
          EXPECT_EQ(all[static_cast<size_t>(i)][999], static_cast<float>(3 * i));
      },
      20, [](int) { return Options{{"delay", "300"}}; });
}

TEST(Comm, SumsHaveTheOrderOfOneTree) {
  // In float32 another order gives other bits: 1e8 + 1 is 1e8.
  const float values[] = {1e8f, 1.0f, 1.0f, -1e8f, 1.0f};
  on_ranks(5, [&](Communicator& c) {
    std::vector<float> small = {values[c.rank()]}, large(3000000, values[c.rank()]);
    c.run(sum_of(small));
    c.run(sum_of(large));
    const float expected = ((1e8f + 1.0f) + (1.0f + -1e8f)) + 1.0f;
    EXPECT_EQ(small[0], expected);
    EXPECT_EQ(large.front(), expected);
    EXPECT_EQ(large.back(), expected);
  });
}

TEST(Comm, APlaceInTheGroupIsKnown) {
  on_ranks(3, [](Communicator& c) {
    EXPECT_EQ(c.local_ranks(), 3);
    EXPECT_EQ(c.local_rank(), c.rank());
    EXPECT_FALSE(c.host(0).empty());
    EXPECT_EQ(c.name_of(2), "rank 2 (host " + c.host(2) + ")");
  });
}

TEST(Comm, ARankThatFailsIsNamedByAll) {
  // It fails in its 5th exchange; two of them open the group.
  on_ranks(
      3,
      [](Communicator& c) {
        const std::string text = error_of([&] {
          for (;;) {
            auto x = ones(10);
            c.run(sum_of(x));
          }
        });
        if (c.rank() == 1)
          EXPECT_EQ(text, "all_reduce: this rank gave up: failed on purpose");
        else
          EXPECT_EQ(text, "all_reduce: " + c.name_of(1) + " gave up: failed on purpose");
        EXPECT_TRUE(c.is_broken());
      },
      20, [](int r) { return r == 1 ? Options{{"fail_at", "6"}} : Options{}; });
}

TEST(Comm, ARankThatNeverComesIsNamedAtTheDeadline) {
  on_ranks(
      3,
      [](Communicator& c) {
        auto x = ones(10);
        c.run(sum_of(x));
        if (c.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        if (c.rank() == 2)
          EXPECT_THROW(c.run(sum_of(x)), Error);
        else
          EXPECT_EQ(error_of([&] { c.run(sum_of(x)); }),
                    "all_reduce: not done after 1 s (HORNGATE_COMM_TIMEOUT); " + c.name_of(2) +
                        " has not come to it: it has begun 1 operations of 2.");
      },
      1);
}

TEST(Comm, ARankThatEndsItsProgramEarlyIsNamed) {
  on_ranks(3, [](Communicator& c) {
    auto x = ones(10);
    c.run(sum_of(x));
    if (c.rank() == 0) return;
    EXPECT_EQ(error_of([&] { c.run(sum_of(x)); }),
              "all_reduce: " + c.name_of(0) + " has ended its program, and this rank has not.");
  });
}

TEST(Comm, WhoGivesUpSaysWhy) {
  on_ranks(3, [](Communicator& c) {
    auto x = ones(10);
    Operation op = sum_of(x);
    op.name = "loss";
    if (c.rank() == 1) {
      c.give_up("the disk is full.");
      EXPECT_EQ(error_of([&] { c.run(op); }),
                "all_reduce \"loss\": this rank gave up: the disk is full.");
    } else {
      EXPECT_EQ(error_of([&] { c.run(op); }),
                "all_reduce \"loss\": " + c.name_of(1) + " gave up: the disk is full.");
    }
  });
}

TEST(Comm, WhoGivesUpWhileOthersStillOpenIsNamedByTheirFirstOperation) {
  for (int round = 0; round < 10; ++round)
    on_ranks(
        3,
        [](Communicator& c) {
          auto x = ones(10);
          if (c.rank() == 1) return c.give_up("the disk is full.");
          EXPECT_EQ(error_of([&] { c.run(sum_of(x)); }),
                    "all_reduce: " + c.name_of(1) + " gave up: the disk is full.");
        },
        20, [](int r) { return r == 1 ? Options{} : Options{{"delay", "5000"}}; });
}

TEST(Comm, RanksThatDoDifferentThingsAreToldSo) {
  on_ranks(2, [](Communicator& c) {
    std::vector<float> x(2000);
    Operation op = sum_of(x);
    if (c.rank() == 1) op.kind = Kind::broadcast, op.count = 7;
    const std::string text = error_of([&] {
      c.run(op);
      c.run(Operation());
    });
    EXPECT_EQ(text.substr(text.find(": ")),
              ": " + c.name_of(0) + " is at all_reduce float32 x 2000, sum, but " + c.name_of(1) +
                  " at broadcast float32 x 7 from 0: operation 1 of the program.");
  });
}

TEST(Comm, CtrlCEndsAWait) {
  on_ranks(2, [](Communicator& c) {
    std::atomic<bool> stop{false};
    const StopScope scope(&stop);
    auto x = ones(10);
    if (c.rank() == 1) {
      std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        stop = true;
      });
      EXPECT_THROW(c.wait(c.start(sum_of(x))), Interrupted);
      later.join();
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      EXPECT_EQ(error_of([&] { c.run(sum_of(x)); }),
                "all_reduce: " + c.name_of(1) + " gave up: it was interrupted.");
    }
  });
}

TEST(Comm, SurvivorsGoOn) {
  // Rank 0, through which all others hear of each other, and rank 2 fall silent.
  on_ranks(4, [](Communicator& c) {
    auto x = ones(10);
    c.run(sum_of(x));
    const bool ends = c.rank() % 2 == 0;
    if (ends) return;
    EXPECT_THROW(c.run(sum_of(x)), Error);
    const auto rest = c.shrink();
    EXPECT_EQ(rest->ranks(), 2);
    EXPECT_EQ(rest->rank(), c.rank() / 2);
    auto y = ones(100000);
    rest->run(sum_of(y));
    EXPECT_EQ(y[99999], 2.0f);
    rest->close();
  });
}

/// One of the ranks below: goes on with whoever is left until a sum is through, and returns who took part, a bit for
/// each. Some end before: in the midst of shrink, when it is stopped, or by dropping a communicator.
std::optional<int> sum_with_survivors(std::shared_ptr<Communicator> c, uint32_t seed) {
  const int self = c->rank();
  std::mt19937 random(seed * 100u + static_cast<uint32_t>(self));
  enum {
    goes_on,
    is_stopped,
    drops
  } const fate =
      self == c->ranks() - 1 ? goes_on : std::array{goes_on, is_stopped, drops}[random() % 3];
  if (self == static_cast<int>(seed % 2)) return {};  // so that there is a fault at all
  const auto when = std::chrono::microseconds(random() % 4000);
  for (;;) {
    std::vector<float> x = {static_cast<float>(1 << self)};
    try {
      c->run(sum_of(x));
      c->close();
      return static_cast<int>(x[0]);
    } catch (const CommError&) {
    }
    std::atomic<bool> stop{false};
    const StopScope scope(&stop);
    std::thread later;
    if (fate == is_stopped)
      later = std::thread([&] {
        std::this_thread::sleep_for(when);
        stop = true;
      });
    std::exception_ptr error;
    try {
      c = c->shrink();
    } catch (const Error&) {
      error = std::current_exception();
    }
    if (later.joinable()) later.join();
    if (error && fate != is_stopped) std::rethrow_exception(error);
    if (error) return {};
    if (fate == drops) {
      std::this_thread::sleep_for(when / 4);
      return {};
    }
  }
}

TEST(Comm, SurvivorsGoOnWhoeverEndsAtAnyMoment) {
  setenv("HORNGATE_COMM_PATH", HORNGATE_TEST_COMM_DIR, 1);
  static uint32_t seed = 0;  // others each time that the test is repeated
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(++seed));
    const int n = 3 + static_cast<int>(seed % 4);
    const std::string group = fresh_group();
    std::vector<std::optional<int>> sums(static_cast<size_t>(n));
    std::vector<std::string> errors(sums.size());
    std::vector<std::thread> threads;
    for (int r = 0; r < n; ++r)
      threads.emplace_back([&, r] {
        const auto at = static_cast<size_t>(r);
        errors[at] = error_of([&] {
          sums[at] = sum_with_survivors(
              Communicator::open(
                  "threads",
                  {{"group", group}, {"rank", std::to_string(r)}, {"ranks", std::to_string(n)}},
                  {20}),
              seed);
        });
      });
    for (std::thread& t : threads) t.join();
    int left = 0;
    for (size_t r = 0; r < sums.size(); ++r) left |= sums[r] ? 1 << r : 0;
    for (size_t r = 0; r < sums.size(); ++r) {
      EXPECT_EQ(errors[r], "nothing was thrown") << "rank " << r << " of " << n;
      if (sums[r]) {
        EXPECT_EQ(*sums[r], left) << "rank " << r << " of " << n;
      }
    }
    EXPECT_TRUE(left >> (n - 1) & 1) << n << " ranks";
  }
}

TEST(Comm, TheFirstOperationThatDiffersIsNamed) {
  on_ranks(3, [](Communicator& c) {
    std::vector<std::string> program;
    for (int i = 0; i < 40; ++i) program.push_back("all_reduce float32 x " + std::to_string(i));
    EXPECT_NO_THROW(check_same_program(c, "function", program));
    if (c.rank() == 2) program[17] = "broadcast";
    EXPECT_EQ(
        error_of([&] { check_same_program(c, "function", program); }),
        "function: ranks run different programs. Operation 17 is all_reduce float32 x 17 on " +
            c.name_of(0) + ", and broadcast on " + c.name_of(2) + ".");
    if (c.rank() == 2) program.resize(17);
    EXPECT_EQ(
        error_of([&] { check_same_program(c, "function", program); }),
        "function: ranks run different programs. Operation 17 is all_reduce float32 x 17 on " +
            c.name_of(0) + ", and nothing more on " + c.name_of(2) + ".");
    EXPECT_FALSE(c.is_broken());
  });
}

TEST(Comm, BucketsAreFilledFromTheLastGradientOn) {
  const Gradient small{10}, large{1000}, whole{10, DType::float64};
  const auto members = [](const std::vector<Bucket>& buckets) {
    std::vector<std::vector<size_t>> out;
    for (const Bucket& b : buckets) out.push_back(b.members);
    return out;
  };
  using Lists = std::vector<std::vector<size_t>>;
  const std::vector<Gradient> mixed = {small, small, large, large, large, small};
  EXPECT_EQ(members(make_buckets(mixed, 8000, 100)), (Lists{{5, 4, 3}, {2}, {1, 0}}));
  EXPECT_EQ(members(make_buckets(mixed, 1 << 20, 100)), (Lists{{5, 4, 3, 2}, {1, 0}}));
  EXPECT_EQ(members(make_buckets(std::vector<Gradient>{large, whole, small}, 1 << 20, 100)),
            (Lists{{2}, {1}, {0}}));
  EXPECT_TRUE(make_buckets({}).empty());
}

TEST(Comm, BucketsSumWhereverTheArraysAre) {
  on_ranks(3, [](Communicator& c) {
    // Not owned by it: the test's communicator lives longer.
    const std::shared_ptr<Communicator> shared(&c, [](Communicator*) {});
    std::mt19937 random(3);
    for (int round = 0; round < 20; ++round) {
      std::vector<Gradient> gradients(1 + random() % 12);
      for (Gradient& g : gradients) g.count = random() % 400;
      std::vector<float> together(400 * gradients.size());
      std::vector<std::vector<float>> apart;
      std::vector<float*> at;
      float* free = together.data();
      const bool is_together = random() % 2 == 0;
      for (size_t g = 0; g < gradients.size(); ++g) {
        apart.emplace_back(400);
        at.push_back(is_together ? free : apart[g].data());
        free += gradients[g].count;
      }
      for (size_t g = 0; g < gradients.size(); ++g)
        std::fill_n(at[g], gradients[g].count, static_cast<float>(g + 1));
      BucketSum sum(shared, gradients, make_buckets(gradients, 3000, 400));
      std::vector<size_t> order(gradients.size());
      for (size_t g = 0; g < order.size(); ++g) order[g] = g;
      std::shuffle(order.begin(), order.end(),
                   std::mt19937(random() + static_cast<unsigned>(c.rank())));
      for (const size_t g : order) sum.put(g, at[g]);
      sum.finish();
      for (size_t g = 0; g < gradients.size(); ++g)
        for (size_t i = 0; i < gradients[g].count; ++i)
          ASSERT_EQ(at[g][i], 3.0f * static_cast<float>(g + 1));
    }
  });
}

TEST(Comm, AForkedChildIsNoRank) {
  if (horngate::testing::kThreadSanitizer) GTEST_SKIP() << horngate::testing::kNoForks;
  on_ranks(2, [](Communicator& c) {
    if (c.rank() == 0) {
      const pid_t child = fork();
      if (child == 0) {
        auto x = ones(10);
        const std::string text = error_of([&] { c.run(sum_of(x)); });
        _exit(text == "distributed: a process that was forked from a rank is not a rank and cannot "
                      "communicate."
                  ? 0
                  : 1);
      }
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    auto x = ones(10);
    c.run(sum_of(x));
    EXPECT_EQ(x[0], 2.0f);
  });
}

TEST(Comm, AloneEverythingIsACopy) {
  const auto c = Communicator::alone();
  std::vector<float> x = {1, 2}, y(2);
  Operation op = sum_of(x);
  op.out = y.data();
  c->run(op);
  EXPECT_EQ(y, x);
  EXPECT_EQ(c->ranks(), 1);
  op.root = 1;
  EXPECT_EQ(error_of([&] { c->run(op); }), "all_reduce: root must be in [0, 1); got 1.");
}

TEST(Comm, AnUnknownCommunicatorIsNamed) {
  setenv("HORNGATE_COMM_PATH", HORNGATE_TEST_COMM_DIR, 1);
  EXPECT_EQ(error_of([] { load_plugin("nothing", "HORNGATE_COMM"); }),
            "communicator: there is no communicator \"nothing\" (from HORNGATE_COMM). "
            "Communicators here: mpi, threads.");
}

TEST(Comm, OptionsAreRead) {
  setenv("HORNGATE_COMM_OPTIONS", "mpi.library=/x,threads.rank=1,threads.ranks=2", 1);
  EXPECT_EQ(options_of("threads"), (Options{{"rank", "1"}, {"ranks", "2"}}));
  setenv("HORNGATE_COMM_OPTIONS", "rank", 1);
  EXPECT_EQ(error_of([] { options_of("mpi"); }),
            "HORNGATE_COMM_OPTIONS: must be a list of communicator.option=value; got \"rank\".");
  unsetenv("HORNGATE_COMM_OPTIONS");
}

}  // namespace
}  // namespace horngate::comm
