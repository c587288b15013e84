// horngate::distributed in a process that is alone. Several ranks: tests/distributed.
#include "horngate/distributed.h"

#include <gtest/gtest.h>

#include "error_of.h"
#include "horngate/horngate.h"

namespace horngate::distributed {
namespace {

using testing::error_of;

TEST(Distributed, AProcessWithoutALauncherIsItsOnlyRank) {
  init();
  EXPECT_TRUE(is_initialized());
  EXPECT_EQ(rank(), 0);
  EXPECT_EQ(size(), 1);
  EXPECT_EQ(local_rank(), 0);
  EXPECT_EQ(local_size(), 1);
  EXPECT_FALSE(host(0).empty());
  barrier();
  shutdown();
  EXPECT_FALSE(is_initialized());
  EXPECT_EQ(size(), 1);
}

TEST(Distributed, OperationsOfOneRankGiveWhatItHas) {
  const Array x = Array::of({1.5f, -2.f, 3.f, 4.f}, {2, 2});
  for (const Reduce op : {Reduce::sum, Reduce::average, Reduce::min, Reduce::max, Reduce::prod}) {
    EXPECT_EQ(all_reduce(x, {.op = op}).str(), x.str());
    EXPECT_EQ(reduce_scatter(x, {.op = op}).str(), x.str());
  }
  EXPECT_EQ(all_gather(x).str(), x.str());
  EXPECT_EQ(all_gather(Array(7)).str(), "[7]");
  EXPECT_EQ(all_to_all(x).str(), x.str());
  const Array there = broadcast(x);
  EXPECT_EQ(there.str(), x.str());
  EXPECT_NE(there.raw(), x.raw()) << "a result is an array of its own";
  EXPECT_EQ(all_reduce(Array(DType::float32, {0, 3})).dims(), (Ints{0, 3}));
}

TEST(Distributed, VariablesKeepTheValuesOfTheOnlyRank) {
  const Variable w = variable(Array::of({1.f, 2.f}));
  broadcast_variables({w});
  EXPECT_EQ(get_value(w).str(), "[1., 2.]");
}

TEST(Distributed, WrongCallsAreNamed) {
  EXPECT_EQ(error_of([] { (void)all_reduce(Array()); }), "all_reduce: x is an empty array.");
  EXPECT_EQ(error_of([] { (void)all_reduce(Array(1), {.op = Reduce::average}); }),
            "all_reduce: the average needs floats; got int32.");
  EXPECT_EQ(error_of([] { (void)reduce_scatter(Array(1.f)); }),
            "reduce_scatter: the first axis of x must be divisible by the number of ranks, 1; got "
            "shape ().");
  EXPECT_EQ(error_of([] { (void)broadcast(Array(1.f), 3); }),
            "broadcast: root must be in [0, 1); got 3.");
  EXPECT_EQ(error_of([] { (void)host(-1); }), "host: rank must be in [0, 1); got -1.");
  EXPECT_EQ(error_of([] { shrink(); }), "shrink: no rank was lost, so there is nothing to shrink.");
  const Variable w = variable(Array::of({1.f, 2.f}));
  EXPECT_EQ(error_of([&] { broadcast_variables({w}, 1); }),
            "broadcast: root must be in [0, 1); got 1.");
}

}  // namespace
}  // namespace horngate::distributed
