// Open sizes: an engine that can leave them open compiles once for many, and answers stay those of native.
#include <gtest/gtest.h>
#include <horngate/hooks.h>
#include <horngate/horngate.h>

#include <dlfcn.h>

#include <cstdlib>
#include <thread>

#include "ir/check.h"
#include "on_engine.h"
#include "plan/open_dims.h"

namespace horngate {
namespace {

/// Runs the test's functions on the engine tests/engines/open.cpp and counts what it compiles.
class OnOpen {
 public:
  OnOpen() {
    find_engine("open");
    plugin_ = dlopen(HORNGATE_TEST_PLUGIN_DIR "/libhorngate_engine_open.so", RTLD_NOW);
    all_ = count("open_compiles_all");
    open_ = count("open_compiles_open");
  }
  int all() const { return count("open_compiles_all") - all_; }
  int with_open_sizes() const { return count("open_compiles_open") - open_; }

 private:
  int count(const char* what) const { return reinterpret_cast<int (*)()>(dlsym(plugin_, what))(); }
  const testing::OnEngine engine_{"open"};
  void* plugin_;
  int all_, open_;
};

Array numbers(int64_t n) {
  Array a(DType::float32, {n});
  for (int64_t i = 0; i < n; ++i)
    a.data<float>()[i] = (static_cast<float>(i) - 1.5f) / static_cast<float>(n);
  return a;
}

void expect_near(const Array& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), static_cast<int64_t>(want.size()));
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got.data<float>()[i], want[i], 1e-6);
}

/// A mean with its gradient, which repeats a number along the open axis, and an update.
struct Step {
  Tensor x = placeholder({.shape = {None}});
  Variable v = variable(Array::of<float>({2}, {}));
  Function f;
  Step() {
    const Tensor loss = mean(x * x) * v;
    const Tensors g = gradients(loss, {x, v});
    f = function({x}, {loss, g[0]}, {update_add(v, g[1])});
  }
  void check(int64_t n) const {
    const float before = get_value(v).item<float>();
    const Arrays out = f({numbers(n)});
    float sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += numbers(n).data<float>()[i] * numbers(n).data<float>()[i];
    EXPECT_NEAR(out[0].item<float>(), sum / n * before, 1e-4);
    ASSERT_EQ(out[1].size(), n);
    for (int64_t i = 0; i < n; ++i)
      EXPECT_NEAR(out[1].data<float>()[i], 2 * numbers(n).data<float>()[i] * before / n, 1e-4);
    EXPECT_NEAR(get_value(v).item<float>(), before + sum / n, 1e-4);
  }
};

TEST(OpenSizes, OneCompilationForAllSizes) {
  const OnOpen engine;
  const Step step;
  for (int64_t n : {3, 5, 8, 3, 2, 100}) step.check(n);
  EXPECT_EQ(engine.all(), 1);
  EXPECT_EQ(engine.with_open_sizes(), 1);
  step.check(1);  // nothing is repeated: another graph
  EXPECT_LE(engine.all(), 2);
}

TEST(OpenSizes, PlansThatGoFreeWhatTheyCompiled) {
  const OnOpen engine;
  const Step step;
  // More sizes than a function keeps plans for: what they share stays.
  for (int64_t n = 2; n < 80; ++n) step.check(n);
  EXPECT_EQ(engine.all(), 1);
}

TEST(OpenSizes, ManySizesAtOnce) {
  const OnOpen engine;
  const Tensor x = placeholder({.shape = {None}});
  const Function f = function({x}, {sum(x * x) / 2.0});
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int64_t n = 2 + t; n < 30; n += 4)
        EXPECT_EQ(f({Array::full(DType::float32, {n}, 2.0)})[0].item<float>(), 2.f * n);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(engine.all(), 1);
}

TEST(OpenSizes, WhatTheEngineRefusesIsCompiledPerSize) {
  const OnOpen engine;
  const Tensor x = placeholder({.shape = {None}});
  const Function f = function({x}, {abs(x) + 1.0});
  for (int64_t n : {3, 4, 3}) {
    const Array y = f({numbers(n)})[0];
    for (int64_t i = 0; i < n; ++i)
      EXPECT_EQ(y.data<float>()[i], std::abs(numbers(n).data<float>()[i]) + 1);
  }
  EXPECT_EQ(engine.all(), 2);
  EXPECT_EQ(engine.with_open_sizes(), 0);
}

TEST(OpenSizes, SizesThatDoNotGoTogether) {
  const OnOpen engine;
  // The open axis meets one of 3: it is no open size.
  const Tensor x = placeholder({.shape = {None}}), y = placeholder({.shape = {3}});
  const Function f = function({x, y}, {x + y});
  expect_near(f({numbers(3), numbers(3)})[0], (std::vector<float>{-1, -1 / 3.f, 1 / 3.f}));
  EXPECT_THROW((void)f({numbers(4), numbers(3)}), ValueError);
  expect_near(f({Array::of({1.f}), numbers(3)})[0],
              (std::vector<float>{0.5f, 1 - 0.5f / 3, 1 + 0.5f / 3}));
  EXPECT_EQ(engine.with_open_sizes(), 0);
  const Array none = function({x}, {x * 2.0})({Array(DType::float32, {0})})[0];
  EXPECT_EQ(none.size(), 0);
}

TEST(OpenSizes, InitialValuesNeedNoEngine) {
  const OnOpen engine;
  for (int64_t n = 1; n <= 50; ++n) {
    const Variable v = variable(hooks::initial_value(random_normal(ShapeArg{3, 3, n, 2 * n})));
    EXPECT_EQ(get_value(v).size(), 18 * n * n);
  }
  EXPECT_EQ(engine.all(), 0);
}

TEST(OpenSizes, TheProbes) {
  const auto type = [](Shape s) { return TensorType(DType::float32, std::move(s)); };
  const auto probes = probe_types({type({None, 3}), type({None, None}), type({7})},
                                  {type({4, 3}), type({4, 9}), type({7})});
  ASSERT_EQ(probes.size(), 2u);
  EXPECT_EQ(probes[0][0].shape.dim(0), probes[0][1].shape.dim(0));
  EXPECT_NE(probes[0][0].shape.dim(0), 4);
  EXPECT_NE(probes[0][1].shape.dim(1), 9);
  EXPECT_NE(probes[0][1].shape.dim(1), probes[0][1].shape.dim(0));
  EXPECT_EQ(probes[1][1].shape.dim(1), 9);
  EXPECT_EQ(probes[1][2], type({7}));
  EXPECT_TRUE(probe_types({type({3})}, {type({3})}).empty());
  EXPECT_TRUE(probe_types({type({None})}, {type({0})}).empty());
}

}  // namespace
}  // namespace horngate
