// The onnx engine beside native in one process: the digit net's loss curve, and what a call costs on top of the
// runtime itself. Skipped where ONNX Runtime is not installed.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "../../examples/digits_net.h"
#include "engines/onnx/runtime.h"
#include "engines/registry.h"
#include "finite_differences.h"
#include "plan/function_impl.h"

namespace horngate {
namespace {

class OnnxEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("HORNGATE_ENGINE_PATH", HORNGATE_TEST_ENGINE_DIR, 1);
    try {
      engine_ = &find_engine("onnx");
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
  }
  Function on_engine(const Tensors& inputs, const Tensors& outputs, const Tensors& updates = {}) {
    return Function(std::make_shared<FunctionImpl>(inputs, outputs, updates, "test", engine_));
  }
  const Engine* engine_ = nullptr;
};

TEST_F(OnnxEngineTest, TrainsTheDigitNetAsNativeDoes) {
  const auto losses = [&](const Engine& engine) {
    const digits::Net net = digits::make_net(DType::float32);
    Tensors updates;
    for (const Update& u : digits::adam(net.loss, net.weights, 1e-3)) updates.push_back(u.op());
    const Function step(std::make_shared<FunctionImpl>(
        Tensors{net.images, net.labels}, Tensors{net.loss}, updates, "step", &engine));
    std::vector<double> curve;
    for (int i = 0; i < 50; ++i) {
      const Array images = testing::random_array({32, 8, 8, 1}, 100 + i, 0.0, 1.0);
      Array labels = Array::zeros(DType::float32, {32, 10});
      for (int64_t k = 0; k < 32; ++k) labels.data<float>()[k * 10 + (k * 7 + i) % 10] = 1;
      curve.push_back(step({images.cast(DType::float32), labels})[0].item<double>());
    }
    return curve;
  };
  const std::vector<double> ours = losses(*engine_), native = losses(native_engine());
  double worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) worst = std::max(worst, std::abs(ours[i] - native[i]));
  EXPECT_LT(worst, 1e-3);
  RecordProperty("largest_difference_of_losses", std::to_string(worst));
}

/// Least time of a call, in microseconds, of many rounds.
double least_time(const std::function<void()>& call) {
  double least = 1e9;
  for (int round = 0; round < 40; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i) call();
    const std::chrono::duration<double, std::micro> t = std::chrono::steady_clock::now() - start;
    least = std::min(least, t.count() / 200);
  }
  return least;
}

TEST_F(OnnxEngineTest, ACallCostsLittleMoreThanTheRuntime) {
  const Tensor x = placeholder({.shape = {4, 3}, .name = "x"});
  const Variable w = variable(testing::random_array({3, 5}, 1).cast(DType::float32)),
                 b = variable(Array::zeros(DType::float32, {5}));
  const Tensor y = softmax(relu(dot(x, w) + b));
  const Function f = on_engine({x}, {y});
  const Array fed = testing::random_array({4, 3}, 2).cast(DType::float32);
  const Array got = f({fed})[0];

  const std::string path = ::testing::TempDir() + "horngate_overhead.onnx";
  export_onnx(f, path);
  std::stringstream model;
  model << std::ifstream(path, std::ios::binary).rdbuf();
  std::remove(path.c_str());
  const onnx::Runtime runtime;
  onnx::OrtSession* session = runtime.make_session(model.str());
  Array out = Array::zeros(DType::float32, {4, 5});
  const int64_t in_dims[] = {4, 3}, out_dims[] = {4, 5};
  const onnx::OrtValue* in = runtime.make_tensor(fed.raw(), fed.nbytes(), in_dims, 2, 1);
  onnx::OrtValue* result = runtime.make_tensor(out.raw(), out.nbytes(), out_dims, 2, 1);
  const char *in_name = "x", *out_name = "output_0";
  const auto direct = [&] { runtime.run(session, &in_name, &in, 1, &out_name, 1, &result); };
  direct();
  for (int64_t i = 0; i < out.size(); ++i)
    EXPECT_NEAR(got.data<float>()[i], out.data<float>()[i], 1e-6);

  const double runtime_alone = least_time(direct);
  const double with_us = least_time([&] { (void)f({fed}); });
  RecordProperty("runtime_us", std::to_string(runtime_alone));
  RecordProperty("call_us", std::to_string(with_us));
  std::printf("a call: %.2f us, of which the runtime %.2f us\n", with_us, runtime_alone);
  EXPECT_LT(with_us - runtime_alone, 10);
}

TEST_F(OnnxEngineTest, OneFunctionRunsOnManyThreads) {
  const Tensor x = placeholder({.shape = {None, 16}});
  const Function f = on_engine({x}, {sum(exp(x), {.axis = {1}})});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Array fed = testing::random_array({8 + t, 16}, 7 + t).cast(DType::float32);
      const std::vector<float> first = f({fed})[0].to_vector<float>();
      for (int i = 0; i < 200; ++i) wrong += f({fed})[0].to_vector<float>() != first;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace horngate
