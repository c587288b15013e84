// Whether kernels are as fast as they were, as ratios within one run: to copying the same memory, or to the same
// number of multiplications without any memory. Limits are some 1.6 times the most that was seen on a machine, so a
// lost SIMD path, a lost fusion or a copy too many fails, and another machine does not. plan_size_test counts what
// needs no clock.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "engines/native/threads.h"
#include "finite_differences.h"
#include "horngate/horngate.h"
#include "lib/measure.h"
#include "sanitizers.h"

namespace horngate {
namespace {

using testing::random_floats;

// Sanitizers cannot look into how one of the clones is chosen, which is before the program starts.
#if HORNGATE_SANITIZED || !defined(__OPTIMIZE__)
constexpr bool kIsFastBuild = false;
#define FOR_EACH_TARGET
#else
constexpr bool kIsFastBuild = true;
#define FOR_EACH_TARGET __attribute__((target_clones("avx512f", "avx2,fma", "default")))
#endif

/// 24 * 16 multiplications and additions a turn, on registers alone.
FOR_EACH_TARGET float multiply(int64_t turns) {
  typedef float Lanes __attribute__((vector_size(64)));
  Lanes sums[12] = {}, a = {}, b = {};
  for (int i = 0; i < 16; ++i) {
    a[i] = 0.999f;
    b[i] = 1e-3f * static_cast<float>(i + 1);  // with 0, sums become subnormal: slow on some CPUs
  }
  for (int i = 0; i < 12; ++i)
    sums[i] = a * static_cast<float>(i);  // all different, or one would do
  for (int64_t t = 0; t < turns; ++t) {
#pragma GCC unroll 24
    for (int i = 0; i < 24; ++i) sums[i % 12] = sums[i % 12] * a + b;
  }
  float all = 0;
  for (const Lanes& s : sums)
    for (int i = 0; i < 16; ++i) all += s[i];
  return all;
}

class Speed : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kIsFastBuild) GTEST_SKIP() << "this build is not meant to be fast";
    native::set_thread_count(1);
  }
  void TearDown() override { native::set_thread_count(0); }

  using Run = std::function<void()>;

  /// A copy of so many bytes.
  Run copy(size_t bytes) {
    auto from = std::make_shared<std::vector<char>>(bytes, 1);
    auto to = std::make_shared<std::vector<char>>(bytes, 2);
    return [=] {
      std::memcpy(to->data(), from->data(), bytes);
      keep(to->data());
    };
  }

  /// So many multiplications, each with an addition.
  Run products(int64_t count) {
    return [=] {
      float sum = multiply(count / (24 * 16));
      keep(&sum);
    };
  }

  /// Others on the machine may disturb a turn or many: several tries, the best one counts.
  void expect_at_most(double limit, const Run& ours, const Run& reference) {
    double best = 1e9;
    for (int attempt = 0; attempt < 6 && best > limit; ++attempt) {
      const auto times =
          bench::in_turn({{"ours", ours}, {"reference", reference}}, {.seconds = 0.1});
      best = std::min(best, times[0].min() / times[1].min());
    }
    RecordProperty("ratio", std::to_string(best));
    EXPECT_LE(best, limit) << "times the reference";
  }

 private:
  static void keep(void* p) { asm volatile("" : : "r"(p) : "memory"); }
};

Tensor input(ShapeOption shape) { return placeholder({.shape = std::move(shape)}); }

TEST_F(Speed, Call) {
  const Tensor x = input({None});
  const Function f = function({x}, {x + 1.0f});
  const Array one = Array::of({1.0f});
  const Run mallocs = [] {
    for (int i = 0; i < 20; ++i) {
      void* p = std::malloc(64);
      asm volatile("" : : "r"(p) : "memory");
      std::free(p);
    }
  };
  expect_at_most(2.4, [&] { (void)f({one}); }, mallocs);
}

TEST_F(Speed, ElementwiseChain) {
  constexpr int64_t kCount = 1 << 20;
  const Tensor x = input({None}), y = input({None});
  const Function f = function({x, y}, {(x * 1.1f + 0.3f) * y - relu(x) / (abs(y) + 1.0f)});
  const Array a = random_floats({kCount}), b = random_floats({kCount}, 1);
  expect_at_most(3.4, [&] { (void)f({a, b}); }, copy(kCount * 4));
}

TEST_F(Speed, TanhAndExp) {
  constexpr int64_t kCount = 1 << 16;
  const Tensor x = input({None});
  const Function f = function({x}, {tanh(x) + exp(-(x * x))});
  const Array a = random_floats({kCount});
  expect_at_most(2.1, [&] { (void)f({a}); }, products(kCount * 32));
}

TEST_F(Speed, SumOfRows) {
  const Tensor x = input({None, 2048});
  const Function f = function({x}, {sum(x, {.axis = 1})});
  const Array a = random_floats({2048, 2048});
  expect_at_most(0.6, [&] { (void)f({a}); }, copy(2048 * 2048 * 4));
}

TEST_F(Speed, SumOfColumns) {
  const Tensor x = input({None, 2048});
  const Function f = function({x}, {sum(x, {.axis = 0})});
  const Array a = random_floats({2048, 2048});
  expect_at_most(0.6, [&] { (void)f({a}); }, copy(2048 * 2048 * 4));
}

TEST_F(Speed, Softmax) {
  const Tensor x = input({None, 1000});
  const Function f = function({x}, {softmax(x)});
  const Array a = random_floats({64, 1000});
  // 2.1 where two units multiply 512 bits at once: the reference gains more by them than exponentials do.
  expect_at_most(3.0, [&] { (void)f({a}); }, products(64 * 1000 * 16));
}

TEST_F(Speed, Transpose) {
  const Tensor x = input({None, 1000});
  const Function f = function({x}, {transpose(x)});
  const Array a = random_floats({1000, 1000});
  expect_at_most(8, [&] { (void)f({a}); }, copy(1000 * 1000 * 4));
}

/// All rows begin in the same set of a cache: nine times slower than the above on some CPUs, as slow on others.
TEST_F(Speed, TransposeOfRowsThatShareSets) {
  const Tensor x = input({None, 1024});
  const Function f = function({x}, {transpose(x)});
  const Array a = random_floats({1024, 1024});
  expect_at_most(21, [&] { (void)f({a}); }, copy(1024 * 1024 * 4));
}

TEST_F(Speed, Matmul) {
  const Tensor x = input({None, 384}), y = input({384, 384});
  const Function f = function({x, y}, {dot(x, y)});
  const Array a = random_floats({384, 384}), b = random_floats({384, 384}, 1);
  expect_at_most(1.8, [&] { (void)f({a, b}); }, products(384 * 384 * 384));
}

/// Winograd's way needs fewer multiplications than the sum written out.
TEST_F(Speed, Convolution) {
  const Tensor x = input({None, 32, 32, 64});
  const Variable w = variable(random_floats({3, 3, 64, 64}, 1));
  const Function f = function(
      {x}, {conv2d(x, w, {.padding = Padding::same, .data_format = DataFormat::channels_last})});
  const Array a = random_floats({4, 32, 32, 64});
  expect_at_most(0.65, [&] { (void)f({a}); }, products(int64_t{4} * 32 * 32 * 64 * 64 * 9));
}

TEST_F(Speed, TrainingStep) {
  constexpr int64_t kBatch = 128, kWidth = 512;
  const Tensor x = input({None, kWidth});
  const Variable u = variable(random_floats({kWidth, kWidth})),
                 v = variable(random_floats({kWidth, kWidth}, 1));
  const Tensor loss = mean(square(dot(relu(dot(x, u)), v)));
  const Tensors grads = gradients(loss, {u, v});
  const Function f =
      function({x}, {loss}, {update_sub(u, 1e-9f * grads[0]), update_sub(v, 1e-9f * grads[1])});
  const Array a = random_floats({kBatch, kWidth}, 2);
  // Two products forward, two for the weights, one back.
  expect_at_most(2.3, [&] { (void)f({a}); }, products(5 * kBatch * kWidth * kWidth));
}

TEST_F(Speed, RandomNumbers) {
  constexpr int64_t kCount = 1 << 20;
  const Function f = function({}, {random_uniform({kCount})});
  expect_at_most(9, [&] { (void)f({}); }, copy(kCount * 4));
}

}  // namespace
}  // namespace horngate
