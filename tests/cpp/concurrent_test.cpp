// Several threads on one model: no torn weights, no lost updates, one plan per shape. Run under the thread
// sanitizer by `make tsan`.
#include <gtest/gtest.h>
#include <horngate/horngate.h>

#include <atomic>
#include <thread>

#include "engines/native/threads.h"
#include "plan/function_impl.h"

namespace horngate {
namespace {

void in_threads(int n, const std::function<void(int)>& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&, i] { f(i); });
  for (std::thread& t : threads) t.join();
}

TEST(Concurrent, TrainersLoseNoUpdate) {
  const Variable v = variable(Array::zeros(DType::float32, {1000}));
  const Function f = function({}, {}, {update_add(v, constant(ones_array({1000})))});
  in_threads(4, [&](int) {
    for (int i = 0; i < 100; ++i) (void)f();
  });
  for (float x : get_value(v).to_vector<float>()) ASSERT_EQ(x, 400.0f);
}

// Threads that make plans drop those of others, also while these run.
TEST(Concurrent, PlansAreDroppedUnderWay) {
  const size_t before = plan_budget();
  const Tensor x = placeholder({.shape = {None}});
  std::vector<Function> functions;
  for (int i = 0; i < 5; ++i)
    functions.push_back(function({x}, {tanh(x * 0.0) + x * static_cast<double>(i + 1)}));
  set_plan_budget(plan_bytes() + 20'000);
  in_threads(4, [&](int thread) {
    for (int k = 0; k < 150; ++k) {
      const auto i = static_cast<size_t>((k * 7 + thread) % 5);
      const int64_t n = 1 + (k * 13 + thread * 5) % 300;
      const std::vector<float> y = functions[i]({ones_array({n})})[0].to_vector<float>();
      ASSERT_EQ(y, std::vector<float>(static_cast<size_t>(n), static_cast<float>(i + 1)));
      if (k % 50 == 49) {  // functions come and go
        const Function own = function({x}, {x + 1.0});
        ASSERT_EQ(own({ones_array({2})})[0].to_vector<float>(), (std::vector<float>{2, 2}));
      }
    }
  });
  set_plan_budget(before);
}

TEST(Concurrent, PredictionsSeeCommittedVersionsOnly) {
  // Two variables always hold the same number; a reader must never see them differ.
  const Variable a = variable(Array::zeros(DType::float32, {500})),
                 b = variable(Array::zeros(DType::float32, {500}));
  const Tensor one = constant(Array(1.0f));
  const Function train = function({}, {}, {update_add(a, one), update_add(b, one)});
  const Function predict = function({}, {max(abs(a - b)), max(a) - min(a)});
  std::atomic<bool> done{false};
  in_threads(4, [&](int i) {
    if (i < 2) {
      for (int k = 0; k < 150; ++k) (void)train();
      done = true;
    } else {
      while (!done) {
        const Arrays out = predict();
        ASSERT_EQ(out[0].item<float>(), 0.0f);
        ASSERT_EQ(out[1].item<float>(), 0.0f);
      }
    }
  });
  EXPECT_EQ(get_value(a).to_vector<float>()[0], 300.0f);
}

TEST(Concurrent, OneBuildPerShape) {
  const Tensor x = placeholder({.shape = {None}});
  const Function f = function({x}, {sum(exp(x))});
  in_threads(
      8, [&](int) { EXPECT_EQ(f({Array::zeros(DType::float32, {77})})[0].item<float>(), 77.0f); });
  EXPECT_EQ(f.impl()->plans_made(), 1u);
}

TEST(Concurrent, GraphsAreBuiltOnAnyThread) {
  const Variable v = variable(Array::full(DType::float32, {4}, 2.0));
  in_threads(4, [&](int i) {
    for (int k = 0; k < 20; ++k) {
      const Tensor y = sum(v * static_cast<double>(i + k));
      ASSERT_EQ(eval(y).item<float>(), 8.0f * static_cast<float>(i + k));
      ASSERT_EQ(eval(gradients(y, {v})[0]).to_vector<float>()[3], static_cast<float>(i + k));
    }
  });
}

TEST(Concurrent, ParallelForCoversTheRangeOnce) {
  native::set_thread_count(2);
  in_threads(3, [&](int) {
    for (int round = 0; round < 50; ++round) {
      std::vector<int> hits(10'000, 0);
      native::parallel_for(10'000, 10, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
      });
      for (int h : hits) ASSERT_EQ(h, 1);
    }
  });
  native::set_thread_count(0);
}

}  // namespace
}  // namespace horngate
