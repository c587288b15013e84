// Row chains: the same values as step by step, for any number of threads and rows that fill no last tile.
#include "engines/native/row_chain.h"

#include <algorithm>
#include <cmath>

#include "engines/native/executable.h"
#include "engines/native/threads.h"
#include "engines/registry.h"
#include "finite_differences.h"
#include "ir/to_graph.h"
#include "passes/passes.h"

namespace horngate {
namespace {

using testing::random_floats;

std::string steps_of(const Tensors& inputs, const Tensors& outputs) {
  const FunctionGraph p = to_function_graph(inputs, outputs, {});
  std::vector<TensorType> types;
  for (const ValueId v : p.graph.inputs) types.push_back(p.graph.values[v]);
  return native::Executable(*specialise(prepare(p.graph, false, evaluate), types, {}).result)
      .describe();
}

Array ones_of(int64_t n) {
  Array a(DType::float32, {n});
  std::fill_n(a.data<float>(), n, 1.0f);
  return a;
}

struct ThreadCount {
  explicit ThreadCount(int n) { native::set_thread_count(n); }
  ~ThreadCount() { native::set_thread_count(0); }
};

TEST(RowChain, AVarianceIsTheSameForAnyNumberOfThreads) {
  constexpr int64_t kRows = 1027, kColumns = 1501;
  const Tensor x = placeholder({.shape = {kRows, kColumns}});
  const Tensor y = var(x, {.axis = 1});
  EXPECT_NE(steps_of({x}, {y}).find("rows("), std::string::npos) << steps_of({x}, {y});
  const Array at = random_floats({kRows, kColumns});
  std::vector<float> first;
  for (int threads : {1, 2, 5}) {
    const ThreadCount count(threads);
    const std::vector<float> got = function({x}, {y})({at})[0].to_vector<float>();
    if (first.empty()) first = got;
    EXPECT_EQ(got, first) << threads << " threads";
  }
  for (int64_t r = 0; r < kRows; r += 97) {
    const float* row = at.data<float>() + r * kColumns;
    double mean = 0, sum = 0;
    for (int64_t i = 0; i < kColumns; ++i) mean += row[i] / static_cast<double>(kColumns);
    for (int64_t i = 0; i < kColumns; ++i) sum += (row[i] - mean) * (row[i] - mean);
    EXPECT_NEAR(first[static_cast<size_t>(r)], sum / kColumns, 1e-6);
  }
}

TEST(RowChain, MoreThreadsThanThePlanWasMadeFor) {
  const Tensor x = placeholder({.shape = {2048, 700}});
  const Function f = function({x}, {var(x, {.axis = 1})});
  const Array at = random_floats({2048, 700});
  std::vector<float> one;
  {
    const ThreadCount count(1);
    one = f({at})[0].to_vector<float>();
  }
  const ThreadCount count(4);
  EXPECT_EQ(f({at})[0].to_vector<float>(), one);
}

TEST(RowChain, DropoutDrawsByPosition) {
  constexpr int64_t kLong = 300'017, kShort = 1001;  // the short one is no chain
  const Tensor x = placeholder({.shape = {kLong}}), z = placeholder({.shape = {kShort}});
  const Tensor y = dropout(x, 0.25, {.seed = 7});
  EXPECT_NE(steps_of({x}, {y}).find("rows(random_bernoulli"), std::string::npos);
  std::vector<float> first;
  for (int threads : {1, 3}) {
    const ThreadCount count(threads);
    const std::vector<float> got =
        function({x}, {dropout(x, 0.25, {.seed = 7})})({ones_of(kLong)})[0].to_vector<float>();
    if (first.empty()) first = got;
    EXPECT_EQ(got, first);
  }
  const std::vector<float> part =
      function({z}, {dropout(z, 0.25, {.seed = 7})})({ones_of(kShort)})[0].to_vector<float>();
  EXPECT_TRUE(std::equal(part.begin(), part.end(), first.begin()));
  const auto kept = std::count_if(first.begin(), first.end(), [](float v) { return v != 0; });
  EXPECT_NEAR(static_cast<double>(kept) / kLong, 0.75, 0.005);
}

/// -log_softmax(x)[label], in double.
double crossentropy_of(const float* row, int64_t n, int64_t label) {
  double top = row[0], sum = 0;
  for (int64_t i = 1; i < n; ++i) top = std::max<double>(top, row[i]);
  for (int64_t i = 0; i < n; ++i) sum += std::exp(row[i] - top);
  return std::log(sum) + top - row[label];
}

TEST(RowChain, LogSoftmaxIsNotWrittenForACrossentropy) {
  constexpr int64_t kRows = 1127, kClasses = 1003;
  const Tensor x = placeholder({.shape = {kRows, kClasses}}),
               label = placeholder({.shape = {kRows}, .dtype = DType::int32});
  const Tensor y = sparse_categorical_crossentropy(label, x, {.from_logits = true});
  EXPECT_NE(steps_of({x, label}, {y}).find("rows(log_softmax"), std::string::npos)
      << steps_of({x, label}, {y});
  const Array at = random_floats({kRows, kClasses});
  Array labels(DType::int32, {kRows});
  for (int64_t r = 0; r < kRows; ++r)
    labels.data<int32_t>()[r] = static_cast<int32_t>(r * 31 % kClasses);
  std::vector<float> first;
  for (int threads : {1, 3}) {
    const ThreadCount count(threads);
    const std::vector<float> got = function({x, label}, {y})({at, labels})[0].to_vector<float>();
    if (first.empty()) first = got;
    EXPECT_EQ(got, first) << threads << " threads";
  }
  for (int64_t r = 0; r < kRows; r += 13)
    EXPECT_NEAR(first[static_cast<size_t>(r)],
                crossentropy_of(at.data<float>() + r * kClasses, kClasses, r * 31 % kClasses),
                2e-6);
}

TEST(RowChain, ASoftmaxInTheMiddleOfThreeAxes) {
  constexpr int64_t kOuter = 57, kInner = 41, kClasses = 520;
  const Tensor x = placeholder({.shape = {kOuter, kInner, kClasses}});
  const Tensor y = sum(square(softmax(x * 2.0f)), {.axis = -1});
  EXPECT_NE(steps_of({x}, {y}).find("rows("), std::string::npos) << steps_of({x}, {y});
  const Array at = random_floats({kOuter, kInner, kClasses});
  const std::vector<float> got = function({x}, {y})({at})[0].to_vector<float>();
  for (int64_t r = 0; r < kOuter * kInner; r += 7) {
    const float* row = at.data<float>() + r * kClasses;
    double total = 0, squares = 0;
    for (int64_t i = 0; i < kClasses; ++i) total += std::exp(2.0 * row[i]);
    for (int64_t i = 0; i < kClasses; ++i) squares += std::pow(std::exp(2.0 * row[i]) / total, 2);
    EXPECT_NEAR(got[static_cast<size_t>(r)], squares, 1e-5 * squares);
  }
}

TEST(RowChain, ASoftmaxThatOthersReadTooIsWritten) {
  constexpr int64_t kRows = 1700, kClasses = 640;
  const Tensor x = placeholder({.shape = {kRows, kClasses}});
  const Tensor p = softmax(x);
  const Tensor entropy = sum(p * log(p), {.axis = -1});
  const Array at = random_floats({kRows, kClasses});
  const Tensors out{p, entropy, sum(p, {.axis = 0})};
  EXPECT_NE(steps_of({x}, out).find("rows("), std::string::npos) << steps_of({x}, out);
  const Arrays got = function({x}, out)({at});
  double column = 0;
  for (int64_t r = 0; r < kRows; ++r) {
    const float* row = got[0].data<float>() + r * kClasses;
    double total = 0, own = 0;
    for (int64_t i = 0; i < kClasses; ++i) total += row[i];
    for (int64_t i = 0; i < kClasses; ++i) own += row[i] * std::log(row[i]);
    EXPECT_NEAR(total, 1, 1e-5);
    EXPECT_NEAR(got[1].data<float>()[r], own, 1e-4);
    EXPECT_NEAR(-std::log(row[5]), crossentropy_of(at.data<float>() + r * kClasses, kClasses, 5),
                1e-5);
    column += row[5];
  }
  EXPECT_NEAR(got[2].data<float>()[5], column, 1e-4);
}

TEST(RowChain, ASoftmaxOfAPartOfSomethingLarger) {
  constexpr int64_t kRows = 1800, kClasses = 600;
  const Tensor x = placeholder({.shape = {2 * kRows, kClasses}});
  const Tensor part = slice(x, {kRows, 0}, {kRows, kClasses});
  const Tensor y = sum(square(softmax(part)), {.axis = -1});
  const Array at = random_floats({2 * kRows, kClasses});
  const std::vector<float> got = function({x}, {y})({at})[0].to_vector<float>();
  for (int64_t r = 0; r < kRows; r += 11) {
    const float* row = at.data<float>() + (kRows + r) * kClasses;
    double squares = 0;
    const double rest = crossentropy_of(row, kClasses, 0) + row[0];
    for (int64_t i = 0; i < kClasses; ++i) squares += std::exp(2 * (row[i] - rest));
    EXPECT_NEAR(got[static_cast<size_t>(r)], squares, 1e-5 * squares);
  }
}

TEST(RowChain, LayerNormalizationAndItsGradient) {
  constexpr int64_t kRows = 1100, kColumns = 1024;
  const Tensor x = placeholder({.shape = {kRows, kColumns}}),
               gain = placeholder({.shape = {kColumns}});
  const Tensor m = mean(x, {.axis = -1, .keepdims = true});
  const Tensor v = var(x, {.axis = -1, .keepdims = true});
  const Tensor y = (x - m) / sqrt(v + 1e-5) * gain;
  const Tensor dx = gradients(sum(y * y * y), {x})[0];
  const Arrays at{random_floats({kRows, kColumns}), random_floats({kColumns}, 1)};
  const Arrays got = function({x, gain}, {y, dx})(at);
  // The same on a few rows, which are no chain.
  for (int64_t r : {int64_t{0}, int64_t{511}, kRows - 1}) {
    Array row(DType::float32, {1, kColumns});
    std::copy_n(at[0].data<float>() + r * kColumns, kColumns, row.data<float>());
    const Tensor one = placeholder({.shape = {1, kColumns}});
    const Tensor mean1 = mean(one, {.axis = -1, .keepdims = true});
    const Tensor var1 = var(one, {.axis = -1, .keepdims = true});
    const Tensor y1 = (one - mean1) / sqrt(var1 + 1e-5) * gain;
    const Arrays want =
        function({one, gain}, {y1, gradients(sum(y1 * y1 * y1), {one})[0]})({row, at[1]});
    for (size_t k = 0; k < 2; ++k)
      for (int64_t i = 0; i < kColumns; ++i)
        ASSERT_NEAR(got[k].data<float>()[r * kColumns + i], want[k].data<float>()[i], 2e-5) << i;
  }
}

}  // namespace
}  // namespace horngate
