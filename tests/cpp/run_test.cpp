// Properties of running plans: failures at any kernel, memory, page faults, fork, interruption, printing.
#include <gtest/gtest.h>
#include <horngate/horngate.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engines/native/arena.h"
#include "engines/native/executable.h"
#include "engines/native/threads.h"
#include "finite_differences.h"
#include "ir/to_graph.h"
#include "passes/passes.h"
#include "plan/function_impl.h"
#include "sanitizers.h"

namespace horngate {
namespace {

TEST(Transaction, AFailureAtAnyKernelChangesNothing) {
  const Variable v = variable(Array::of({1.f, 2.f, 3.f})), w = variable(Array::of({4.f, 5.f, 6.f}));
  constexpr size_t kSteps = 5;
  std::vector<Tensor> indices;
  Tensor x = v;
  for (size_t i = 0; i < kSteps; ++i) {
    indices.push_back(placeholder({.shape = {3}, .dtype = DType::int64}));
    x = exp(gather(x, indices.back()) * 0.1);
  }
  const Function f =
      function(indices, {sum(x)}, {update_add(v, x), update(w, x * 2.0), update_sub(v, w)});
  const Array good = Array::of<int64_t>({2, 1, 0}), bad = Array::of<int64_t>({0, 1, 3});
  for (size_t fails = 0; fails < kSteps; ++fails) {
    Arrays feeds(kSteps, good);
    feeds[fails] = bad;
    EXPECT_THROW((void)f(feeds), IndexError);
    EXPECT_EQ(get_value(v).to_vector<float>(), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(get_value(w).to_vector<float>(), (std::vector<float>{4, 5, 6}));
  }
  (void)f(Arrays(kSteps, good));
  EXPECT_NE(get_value(v).to_vector<float>()[0], 1.0f);
}

TEST(Memory, ManyLengthsShareArenas) {
  const Tensor x = placeholder({.shape = {None, 64}});
  Tensor y = x;
  for (int i = 0; i < 4; ++i)
    y = softmax(dot(y, constant(testing::random_array({64, 64}, 1).cast(DType::float32))));
  const Function f = function({x}, {sum(y)});
  native::release_arenas();
  (void)f({Array::zeros(DType::float32, {5000, 64})});
  const size_t longest = native::arena_bytes_held();
  native::release_arenas();
  for (int64_t n = 100; n <= 5000; n += 100) (void)f({Array::zeros(DType::float32, {n, 64})});
  EXPECT_LE(static_cast<double>(native::arena_bytes_held()), 1.3 * static_cast<double>(longest));
}

TEST(Memory, SteadyStateHasNoPageFaults) {
  if (testing::kSanitized) GTEST_SKIP() << "the sanitizer's own memory faults";
  const Tensor x = placeholder({.shape = {None}});
  const Function f = function({x}, {exp(x) * 2.0 + x});
  const Array a = Array::zeros(DType::float32, {4'000'000});
  for (int i = 0; i < 3; ++i) (void)f({a});
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < 10; ++i) (void)f({a});
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_minflt - before.ru_minflt, 200) << "16 MB are 4000 pages per call";
}

TEST(Fork, TheChildPredicts) {
  if (testing::kThreadSanitizer)
    GTEST_SKIP() << "the thread sanitizer cannot follow the children of a process with threads";
  const Tensor x = placeholder({.shape = {None}});
  const Function f = function({x}, {sum(exp(x))});
  const Array a = Array::zeros(DType::float32, {500'000});
  native::set_thread_count(2);
  EXPECT_EQ(f({a})[0].item<float>(), 500000.0f);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // a hang must not outlive the test
    _exit(f({a})[0].item<float>() == 500000.0f ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  native::set_thread_count(0);
}

TEST(Interruption, AStopTokenEndsTheCallAndKeepsVariables) {
  const Variable v = variable(Array::of({1.f}));
  const Function f = function({}, {exp(v)}, {update_add(v, constant(Array(1.f)))});
  std::atomic<bool> stop{true};
  {
    const StopScope scope(&stop);
    EXPECT_THROW((void)f(), Interrupted);
  }
  EXPECT_EQ(get_value(v).item<float>(), 1.0f);
  (void)f();
  EXPECT_EQ(get_value(v).item<float>(), 2.0f);
}

TEST(Printing, LinesGoToTheHandlerAndAreNotDuplicatedByGradients) {
  std::vector<std::string> lines;
  set_print_handler([&](const std::string& line) { lines.push_back(line); });
  const Tensor x = placeholder({.shape = {2}});
  const Tensor y = print_tensor(x * 2.0, "y is");
  const Function f = function({x}, {gradients(sum(y * y), {x})[0], y});
  EXPECT_EQ(f({Array::of({1.f, 2.f})})[0].to_vector<float>(), (std::vector<float>{8, 16}));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("y is"), std::string::npos) << lines[0];
  set_print_handler({});
}

TEST(Fusion, TheUpdateOfAllParametersIsOneStep) {
  // 6 parameters with Adam-like updates: the commit part has one fused step for all of them.
  const Tensor x = placeholder({.shape = {3}});
  std::vector<Variable> ws;
  Tensor loss = sum(x);
  for (int64_t i = 1; i <= 6; ++i) {
    ws.push_back(
        variable(testing::random_array({i, 3}, static_cast<uint64_t>(i)).cast(DType::float32)));
    loss = loss + sum(square(ws.back() * x));
  }
  Graph commit;
  ValueId rate = commit.add_value(TensorType(DType::float32, {}));
  commit.inputs.push_back(rate);
  for (const Variable& w : ws) {
    const TensorType t(DType::float32, w.shape());
    const ValueId p = commit.add_value(t), g = commit.add_value(t), m = commit.add_value(t),
                  n = commit.add_value(t);
    commit.inputs.push_back(p);
    commit.inputs.push_back(g);
    commit.nodes.push_back({Prim::mul, {g, rate}, {m}, {}, {}, nullptr});
    commit.nodes.push_back({Prim::sub, {p, m}, {n}, {}, {}, nullptr});
    commit.in_place.push_back(static_cast<uint32_t>(commit.outputs.size()));
    commit.in_place.push_back(static_cast<uint32_t>(commit.inputs.size() - 2));
    commit.outputs.push_back(n);
  }
  verify(commit, "test");
  const native::Executable exe(commit);
  EXPECT_NE(exe.describe().find("step 0: fused(mul, sub) x 6"), std::string::npos)
      << exe.describe();
  EXPECT_NE(exe.describe().find("1 steps"), std::string::npos) << exe.describe();
  // And through the API, with two threads and odd sizes, it computes the same as one by one.
  const Tensors grads = gradients(loss, std::vector<Tensor>(ws.begin(), ws.end()));
  std::vector<Update> updates;
  std::vector<std::vector<float>> expected;
  const Array at = Array::of({0.5f, -1.f, 2.f});
  const Arrays before = function({x}, grads)({at});
  for (size_t i = 0; i < ws.size(); ++i) {
    updates.push_back(update_sub(ws[i], grads[i] * 0.1));
    std::vector<float> w = get_value(ws[i]).to_vector<float>(), g = before[i].to_vector<float>();
    for (size_t k = 0; k < w.size(); ++k) w[k] -= 0.1f * g[k];
    expected.push_back(w);
  }
  (void)function({x}, {loss}, updates)({at});
  for (size_t i = 0; i < ws.size(); ++i) {
    const std::vector<float> got = get_value(ws[i]).to_vector<float>();
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[i][k], 1e-6);
  }
}

}  // namespace
}  // namespace horngate
