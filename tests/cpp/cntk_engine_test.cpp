// The cntk engine beside native in one process: the digit net's loss curve, what a call costs on top of the library
// itself, and many threads. Skipped where CNTK is not installed.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>

#include "../../examples/digits_net.h"
#include "cntk/build.h"
#include "engines/registry.h"
#include "finite_differences.h"
#include "plan/function_impl.h"

namespace horngate {
namespace {

class CntkEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("HORNGATE_ENGINE_PATH", HORNGATE_TEST_ENGINE_DIR, 1);
    try {
      engine_ = &find_engine("cntk");
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
  }
  Function on(const Engine& engine, const Tensors& in, const Tensors& out,
              const Tensors& updates = {}) {
    return Function(std::make_shared<FunctionImpl>(in, out, updates, "test", &engine));
  }
  const Engine* engine_ = nullptr;
};

TEST_F(CntkEngineTest, TrainsTheDigitNetAsNativeDoes) {
  const auto losses = [&](const Engine& engine) {
    const digits::Net net = digits::make_net(DType::float32);
    Tensors updates;
    for (const Update& u : digits::adam(net.loss, net.weights, 1e-3)) updates.push_back(u.op());
    const Function step = on(engine, {net.images, net.labels}, {net.loss}, updates);
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
  std::printf("largest difference of 50 losses: %.2g\n", worst);
  EXPECT_LT(worst, 1e-3);
  EXPECT_NE(ours.front(), ours.back());
}

/// Least times of two calls, in microseconds, of many short rounds in turn: other load then hits both.
std::pair<double, double> least_times(const std::function<void()>& a,
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

TEST_F(CntkEngineTest, ACallCostsLittleMoreThanTheLibrary) {
  const Tensor x = placeholder({.shape = {4, 3}, .name = "x"});
  const Array w0 = testing::random_array({3, 5}, 1).cast(DType::float32);
  const Variable w = variable(w0), b = variable(Array::zeros(DType::float32, {5}));
  const Function f = on(*engine_, {x}, {softmax(relu(dot(x, w) + b))});
  const Array fed = testing::random_array({4, 3}, 2).cast(DType::float32);
  const Array got = f({fed})[0];

  // The same by calls of the library: its operations, with arguments as a program of CNTK's users has them.
  namespace ck = cntk;
  ck::Library library;
  ck::load(library);
  library.set_loop_threads(1);
  ck::Build build(library);
  const auto argument = [&](const ck::Dims& dims) {
    return build.argument(ck::DataType::kFloat, dims);
  };
  const ck::Val cx = argument({4, 3}), cw = argument({3, 5}), cb = argument({5});
  const ck::Val sum = build.add(build.product(cx, cw, false), cb);
  const ck::Val h = build.bin(ck::Bin::kMax, 0, sum);
  const ck::Val e =
      build.un(ck::Un::kExp, build.bin(ck::Bin::kMinus, h, build.reduce(L"Max", h, {1})));
  const ck::Val y = build.bin(ck::Bin::kDivide, e, build.reduce(L"Sum", e, {1}));
  const ck::FunctionPtr function = build.combine({y});
  const Array zeros = Array::zeros(DType::float32, {5});
  Array out = Array::zeros(DType::float32, {4, 5});
  ck::ValueMap in_map, out_map;
  const auto value = [&](const Array& a, const ck::Dims& dims) {
    return ck::make_value(library, ck::make_view(library, ck::DataType::kFloat, ck::reversed(dims),
                                                 a.raw(), a.nbytes(), false));
  };
  in_map[cx.v] = value(fed, {4, 3});
  in_map[cw.v] = value(w0, {3, 5});
  in_map[cb.v] = value(zeros, {5});
  out_map[library.outputs(function.get()).at(0)] = value(out, {4, 5});
  const auto direct = [&] { library.evaluate(function.get(), in_map, out_map, ck::Device{}); };
  direct();
  for (int64_t i = 0; i < out.size(); ++i)
    EXPECT_NEAR(got.data<float>()[i], out.data<float>()[i], 1e-6);

  const auto [alone, with_us] = least_times(direct, [&] { (void)f({fed}); });
  std::printf("a call: %.2f us; the library called directly: %.2f us\n", with_us, alone);
  EXPECT_LT(with_us - alone, 10);
}

TEST_F(CntkEngineTest, ErrorsOfTheLibraryAreCaughtAndSilent) {
  cntk::Library library;
  cntk::load(library);
  cntk::Build build(library);
  const cntk::Val a = build.argument(cntk::DataType::kFloat, {3}),
                  b = build.argument(cntk::DataType::kFloat, {4});
  ::testing::internal::CaptureStderr();
  EXPECT_THROW((void)build.add(a, b), std::exception);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(CntkEngineTest, ManyThreadsRunFunctions) {
  const Tensor x = placeholder({.shape = {None, 16}});
  const Function shared = on(*engine_, {x}, {sum(exp(x), {.axis = {1}})});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Array fed = testing::random_array({8 + t, 16}, 7 + t).cast(DType::float32);
      const Tensor z = placeholder({.shape = {8 + t, 16}});
      const Function own = on(*engine_, {z}, {tanh(z) * double(t + 1)});
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

}  // namespace
}  // namespace horngate
