// Tests of a plug-in beside native in one process.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>

#include "../../examples/digits_net.h"
#include "engines/registry.h"
#include "finite_differences.h"
#include "plan/function_impl.h"
#include "sanitizers.h"

namespace horngate::testing {

/// Skipped where what the plug-in drives is not installed.
class EngineTest : public ::testing::Test {
 protected:
  explicit EngineTest(const char* name) : name_(name) {}

  void SetUp() override {
    setenv("HORNGATE_ENGINE_PATH", HORNGATE_TEST_ENGINE_DIR, 1);
    try {
      engine_ = &find_engine(name_);
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
  }

  Function on_engine(const Tensors& in, const Tensors& out) const {
    return on(*engine_, in, out, {});
  }

  /// 50 steps of the digit net have the losses that they have on native.
  void expect_digit_losses_of_native() {
    const std::vector<double> ours = digit_losses(*engine_), native = digit_losses(native_engine());
    double worst = 0;
    for (size_t i = 0; i < ours.size(); ++i) worst = std::max(worst, std::abs(ours[i] - native[i]));
    std::printf("largest difference of 50 losses: %.2g\n", worst);
    RecordProperty("largest_difference_of_losses", std::to_string(worst));
    EXPECT_LT(worst, 1e-3);
    EXPECT_NE(ours.front(), ours.back());
  }

  /// A call of a function may take 10 us more than the same by the engine's library.
  void expect_small_overhead(const std::function<void()>& direct,
                             const std::function<void()>& call) {
    const auto [alone, with_us] = least_times(direct, call);
    RecordProperty("library_us", std::to_string(alone));
    RecordProperty("call_us", std::to_string(with_us));
    std::printf("a call: %.2f us; the library called directly: %.2f us\n", with_us, alone);
    if (kSanitized) return;
    EXPECT_LT(with_us - alone, 10);
  }

  /// Four threads call a function of all and one of their own.
  void expect_threads_do_not_disturb_each_other() {
    const Tensor x = placeholder({.shape = {None, 16}});
    const Function shared = on_engine({x}, {sum(exp(x), {.axis = {1}})});
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const Array fed = random_array({8 + t, 16}, 7 + t).cast(DType::float32);
        const Tensor z = placeholder({.shape = {8 + t, 16}});
        const Function own = on_engine({z}, {tanh(z) * double(t + 1)});
        const auto first = shared({fed})[0].to_vector<float>(),
                   second = own({fed})[0].to_vector<float>();
        for (int i = 0; i < 200; ++i) {
          wrong += shared({fed})[0].to_vector<float>() != first;
          wrong += own({fed})[0].to_vector<float>() != second;
        }
      });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
  }

  const Engine* engine_ = nullptr;

 private:
  static Function on(const Engine& engine, const Tensors& in, const Tensors& out,
                     const Tensors& updates) {
    return Function(std::make_shared<FunctionImpl>(in, out, updates, "test", &engine));
  }

  static std::vector<double> digit_losses(const Engine& engine) {
    const digits::Net net = digits::make_net(DType::float32);
    Tensors updates;
    for (const Update& u : digits::adam(net.loss, net.weights, 1e-3)) updates.push_back(u.op());
    const Function step = on(engine, {net.images, net.labels}, {net.loss}, updates);
    std::vector<double> curve;
    for (int i = 0; i < 50; ++i) {
      const Array images = random_array({32, 8, 8, 1}, 100 + i, 0.0, 1.0);
      Array labels = Array::zeros(DType::float32, {32, 10});
      for (int64_t k = 0; k < 32; ++k) labels.data<float>()[k * 10 + (k * 7 + i) % 10] = 1;
      curve.push_back(step({images.cast(DType::float32), labels})[0].item<double>());
    }
    return curve;
  }

  /// In microseconds, of many short rounds in turn: other load then hits both.
  static std::pair<double, double> least_times(const std::function<void()>& a,
                                               const std::function<void()>& b) {
    const auto time_of = [](const std::function<void()>& call) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 20; ++i) call();
      const std::chrono::duration<double, std::micro> t = std::chrono::steady_clock::now() - start;
      return t.count() / 20;
    };
    std::pair<double, double> least{1e9, 1e9};
    for (int round = 0; round < 500; ++round)
      least = {std::min(least.first, time_of(a)), std::min(least.second, time_of(b))};
    return least;
  }

  const char* name_;
};

}  // namespace horngate::testing
