// An engine with memory of its own (tests/engines/guarded.cpp): what stays there, what is copied and when.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <horngate/horngate.h>

#include <atomic>
#include <thread>

#include "engines/registry.h"
#include "on_engine.h"
#include "plan/function_impl.h"

namespace horngate {
namespace {

using testing::OnEngine;

/// What the engine counts.
struct Counts {
  Counts() {
    void* plugin = dlopen(HORNGATE_TEST_PLUGIN_DIR "/libhorngate_engine_guarded.so", RTLD_NOW);
    live = reinterpret_cast<int (*)()>(dlsym(plugin, "guarded_live"));
    copies = reinterpret_cast<int (*)(int)>(dlsym(plugin, "guarded_copies"));
    start();
  }
  void start() {
    for (int way : {0, 1, 2}) before[way] = copies(way);
  }
  int in() const { return copies(HG_COPY_IN) - before[HG_COPY_IN]; }
  int out() const { return copies(HG_COPY_OUT) - before[HG_COPY_OUT]; }
  int within() const { return copies(HG_COPY_WITHIN) - before[HG_COPY_WITHIN]; }
  int (*live)();
  int (*copies)(int direction);
  int before[3];
};

class EngineMemoryTest : public ::testing::Test {
 protected:
  const OnEngine engine_{"guarded"};
  const Engine& opened_ = find_engine("guarded");
  Counts counts_;
};

TEST_F(EngineMemoryTest, ResultsAreCopiedOutWhenSomebodyReadsThem) {
  const Tensor x = placeholder({.shape = {None}});
  const Function f = function({x}, {exp(x), x + 1.0});
  const Arrays y = f({Array::of({0.f, 0.f})});
  EXPECT_EQ(counts_.in(), 1);
  EXPECT_EQ(counts_.out(), 0);
  EXPECT_EQ(y[0].to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(y[0].to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(counts_.out(), 1);
}

TEST_F(EngineMemoryTest, VariablesStayThere) {
  const Tensor x = placeholder({.shape = {2}});
  const Variable v = variable(Array::of({1.f, 2.f})), w = variable(Array::of({3.f, 4.f}));
  const Function train = function({x}, {sum(v * w)}, {update_add(v, x * w)});
  const auto feed = Array::of({1.f, 1.f});
  train({feed});
  counts_.start();
  for (int i = 0; i < 5; ++i) train({feed});
  EXPECT_EQ(counts_.in(), 5);  // the feed alone
  EXPECT_EQ(counts_.out(), 0);
  EXPECT_EQ(get_value(v).to_vector<float>(), (std::vector<float>{19, 26}));
  EXPECT_EQ(counts_.out(), 1);
  train({feed});  // reading has not moved it
  EXPECT_EQ(counts_.in(), 6);
  set_value(v, Array::of({0.f, 0.f}));
  train({feed});
  EXPECT_EQ(get_value(v).to_vector<float>(), (std::vector<float>{3, 4}));
}

TEST_F(EngineMemoryTest, WhatGoesFromCallToCallStaysThere) {
  const Tensor x = placeholder({.shape = {None}});
  const Function f = function({x}, {x * 2.0});
  Array a = Array::of({1.f, 2.f, 3.f});
  for (int i = 0; i < 10; ++i) a = f({a})[0];
  EXPECT_EQ(counts_.in(), 1);
  EXPECT_EQ(counts_.out(), 0);
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{1024, 2048, 3072}));
}

TEST_F(EngineMemoryTest, WhoReadsAResultMayChangeIt) {
  const Tensor x = placeholder({.shape = {None}});
  const Function f = function({x}, {x * 2.0});
  const Array a = f({Array::of({1.f, 2.f})})[0];
  a.data<float>()[0] = 50;
  EXPECT_EQ(f({a})[0].to_vector<float>(), (std::vector<float>{100, 8}));
}

TEST_F(EngineMemoryTest, AVariableThatIsAnOutputIsACopy) {
  const Variable v = variable(Array::of({1.f, 2.f}));
  const Tensor x = placeholder({.shape = {2}});
  const Function f = function({x}, {v}, {update(v, x)});
  f({Array::of({3.f, 4.f})});
  const Array old = f({Array::of({5.f, 6.f})})[0];
  old.data<float>()[0] = 9;
  EXPECT_EQ(get_value(v).to_vector<float>(), (std::vector<float>{5, 6}));
  EXPECT_EQ(old.to_vector<float>(), (std::vector<float>{9, 4}));
}

TEST_F(EngineMemoryTest, SparseValuesAreLeftToNative) {
  const Tensor s = placeholder({.shape = {2, 2}, .sparse = true});
  const Tensor x = placeholder({.shape = {2, 2}});
  const Array m = Array::sparse(Array::of<int64_t>({0, 1, 2}), Array::of<int64_t>({1, 0}),
                                Array::of({2.f, 3.f}), {2, 2});
  const Function f = function({s, x}, {exp(dot(s, x) * 0.0) + dot(s, x)});
  EXPECT_EQ(f({m, Array::of({1.f, 2.f, 3.f, 4.f}, {2, 2})})[0].to_vector<float>(),
            (std::vector<float>{7, 9, 4, 7}));
}

TEST_F(EngineMemoryTest, ShapesThatDependOnData) {
  const Tensor x = placeholder({.shape = {None}, .dtype = DType::int32});
  const Function f = function({x}, {cast(arange(max(x)), DType::float32) * 2.0});
  EXPECT_EQ(f({Array::of<int32_t>({1, 3, 2})})[0].to_vector<float>(),
            (std::vector<float>{0, 2, 4}));
}

TEST_F(EngineMemoryTest, AllIsGivenBack) {
  const int before = counts_.live();
  {
    const Variable v = variable(Array::of({1.f, 2.f}));
    const Tensor x = placeholder({.shape = {None}});
    const Function f = function({x}, {sum(x) * v}, {update_add(v, v)});
    for (int64_t n = 1; n < 20; ++n) f({Array::zeros(DType::float32, {n})});
  }
  EXPECT_EQ(counts_.live(), before);
}

TEST_F(EngineMemoryTest, ThreadsReadAndTrainAtOnce) {
  const Variable v = variable(Array::zeros(DType::float32, {64}));
  const Tensor x = placeholder({.shape = {64}});
  const Function train = function({x}, {}, {update_add(v, x)});
  const Function read = function({}, {v * 1.0});
  const Array one = Array::full(DType::float32, {64}, 1);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        if (t % 2) {
          train({one});
          continue;
        }
        const std::vector<float> y = (i % 2 ? get_value(v) : read({})[0]).to_vector<float>();
        for (const float e : y) wrong += e != y[0];
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(get_value(v).to_vector<float>(), std::vector<float>(64, 100));
}

TEST_F(EngineMemoryTest, AVariableCanGoToAnotherEngineAndBack) {
  const Variable v = variable(Array::of({1.f, 2.f}));
  const Function add = function({}, {}, {update_add(v, v)});
  add({});
  // On native, as if the engine had been another one all the time.
  const Array seen = FunctionImpl({}, {v * 1.0}, {}, "", &native_engine()).call({})[0];
  EXPECT_EQ(seen.to_vector<float>(), (std::vector<float>{2, 4}));
  add({});
  EXPECT_EQ(get_value(v).to_vector<float>(), (std::vector<float>{4, 8}));
}

}  // namespace
}  // namespace horngate
