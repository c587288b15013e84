// What a plan costs, in numbers that no machine changes: steps (each goes over its data once), products, copies,
// transposes, bytes between steps, and allocations of a call. Wall time is not looked at; a pass that no longer
// fuses, or a value that is stored where it need not be, fails here.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "engines/native/executable.h"
#include "engines/registry.h"
#include "finite_differences.h"
#include "horngate/horngate.h"
#include "ir/to_graph.h"
#include "passes/passes.h"
#include "sanitizers.h"

// Counts what the tests' own thread allocates. Sanitizers bring operators of their own.
#if !HORNGATE_SANITIZED
#define HORNGATE_COUNTS_ALLOCATIONS 1
static thread_local size_t allocations = 0;
void* operator new(size_t n) {
  ++allocations;
  if (void* p = std::malloc(n ? n : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
#endif

namespace horngate {
namespace {

struct Cost {
  std::vector<std::string> steps;
  size_t arena = 0;
  std::string text;

  size_t count(std::string_view name) const {
    size_t n = 0;
    for (const std::string& s : steps) n += s == name;
    return n;
  }
};

/// `shapes`: of the inputs in the call, where some of their sizes are open.
Cost cost_of(const Tensors& inputs, const Tensors& outputs, bool training = false,
             const std::vector<Ints>& shapes = {}) {
  const FunctionGraph p = to_function_graph(inputs, outputs, {});
  std::vector<TensorType> types;
  for (const ValueId v : p.graph.inputs) types.push_back(p.graph.values[v]);
  for (size_t i = 0; i < shapes.size(); ++i) types[i].shape = Shape(shapes[i]);
  const Graph plan =
      improve_loops(*specialise(prepare(p.graph, training, evaluate), types, {}).result);
  const native::Executable exe(plan);
  Cost cost;
  cost.arena = exe.arena_bytes();
  cost.text = exe.describe();
  for (size_t at = cost.text.find("step "); at != std::string::npos;
       at = cost.text.find("step ", at + 1)) {
    const size_t from = cost.text.find(": ", at) + 2;
    cost.steps.push_back(cost.text.substr(from, cost.text.find('\n', from) - from));
  }
  return cost;
}

Tensor input(ShapeOption shape, DType dtype = DType::float32) {
  return placeholder({.shape = std::move(shape), .dtype = dtype});
}

TEST(PlanSize, AnElementwiseChainIsOneStepWithoutTemporaries) {
  const Tensor x = input({1000, 100}), row = input({100}), column = input({1000, 1});
  const Tensor y = sigmoid(1.1 * x + row) * tanh(x) + exp(-x * x) * column;
  const Cost c = cost_of({x, row, column}, {y, cast(y, DType::int32)});
  EXPECT_EQ(c.steps.size(), 1u) << c.text;
  EXPECT_EQ(c.arena, 0u) << c.text;
}

TEST(PlanSize, AHundredAddsAreTwoSteps) {
  const Tensor x = input({1000}), b = input({1000});
  Tensor y = x;
  for (int i = 0; i < 100; ++i) y = y + b;
  const Cost c = cost_of({x, b}, {y});
  EXPECT_LE(c.steps.size(), 2u) << c.text;
}

TEST(PlanSize, ReductionsReadWhatFeedsThemOnce) {
  const Tensor x = input({512, 512});
  const Cost sum_of = cost_of({x}, {sum(square(x) * 2.0, {.axis = 0}), mean(abs(x), {.axis = 1})});
  EXPECT_LE(sum_of.steps.size(), 4u) << sum_of.text;
  const Cost c = cost_of({x}, {var(x, {.axis = 1})});
  EXPECT_LE(c.steps.size(), 4u) << c.text;
  EXPECT_LT(c.arena, size_t{512 * 512}) << "a value per row, not per element\n" << c.text;
}

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias) {
  const Tensor m = mean(x, {.axis = -1, .keepdims = true});
  const Tensor v = var(x, {.axis = -1, .keepdims = true});
  return (x - m) / sqrt(v + 1e-5) * gain + bias;
}

TEST(PlanSize, LayerNormalizationKeepsNothingButRowValues) {
  const Tensor x = input({1024, 1024}), gain = input({1024}), bias = input({1024});
  const Cost c = cost_of({x, gain, bias}, {layer_norm(x, gain, bias)});
  EXPECT_LE(c.steps.size(), 5u) << c.text;
  EXPECT_LT(c.arena, size_t{1 << 20}) << c.text;
}

TEST(PlanSize, LayerNormalizationBackward) {
  const Tensor x = input({1024, 1024}), gain = input({1024}), bias = input({1024}),
               dy = input({1024, 1024});
  const Tensors grads = gradients(sum(layer_norm(x, gain, bias) * dy), {x, gain, bias});
  const Cost c = cost_of({x, gain, bias, dy}, grads);
  EXPECT_LE(c.steps.size(), 13u) << c.text;
  EXPECT_LE(c.arena, size_t{2 * 1024 * 1024 * 4 + (1 << 17)}) << c.text;
}

TEST(PlanSize, CrossentropyIsALogSoftmaxAndOnePass) {
  const Tensor x = input({4096, 1000}), labels = input({4096}, DType::int32);
  const Tensor loss = mean(sparse_categorical_crossentropy(labels, x, {.from_logits = true}));
  const Cost forward = cost_of({x, labels}, {loss});
  EXPECT_LE(forward.steps.size(), 7u) << forward.text;
  const Cost both = cost_of({x, labels}, gradients(loss, {x}));
  EXPECT_LE(both.steps.size(), 7u) << both.text;
  EXPECT_LE(both.arena, size_t{2 * 4096 * 1000 * 4 + (1 << 20)}) << both.text;
}

TEST(PlanSize, DropoutNeverStoresItsMask) {
  const Tensor x = input({4096, 1024});
  const Cost c = cost_of({x}, {dropout(x, 0.5)}, true);
  EXPECT_EQ(c.steps.size(), 1u) << c.text;
  EXPECT_LT(c.arena, size_t{4 << 20}) << c.text;
}

TEST(PlanSize, AnMlpStepHasItsProductsAndNoCopies) {
  constexpr int64_t kBatch = 128;
  const Tensor x = input({kBatch, 784}), labels = input({kBatch}, DType::int32);
  const Tensors w{input({784, 512}), input({512}),     input({512, 512}),
                  input({512}),      input({512, 10}), input({10})};
  Tensor h = relu(dot(x, w[0]) + w[1]);
  h = relu(dot(h, w[2]) + w[3]);
  const Tensor loss =
      mean(sparse_categorical_crossentropy(labels, dot(h, w[4]) + w[5], {.from_logits = true}));
  Tensors inputs{x, labels};
  inputs.insert(inputs.end(), w.begin(), w.end());
  Tensors outputs = gradients(loss, w);
  outputs.push_back(loss);
  const Cost c = cost_of(inputs, outputs, true);
  EXPECT_EQ(c.count("transpose") + c.count("copy") + c.count("concat") + c.count("slice"), 0u)
      << c.text;
  EXPECT_LE(c.steps.size(), 26u) << c.text;
  // Two hidden layers and their gradients, a matrix in panels, and little else.
  EXPECT_LE(c.arena, size_t{5 * kBatch * 512 * 4 + 512 * 512 * 4 + (1 << 15)}) << c.text;
}

// Whether the sizes agree is known in the plan alone, but then the choice is an element-wise one as ever.
TEST(PlanSize, AChoiceBetweenOpenSizesIsAStepWithItsNeighbours) {
  const Tensor c = input(Shape{}, DType::bool_);
  const auto cost = [&](const ShapeOption& shape) {
    const Tensor x = input(shape);
    const Tensor y = switch_(c, tanh(x) * 2.0, x) + 1.0;
    const Tensor z = in_train_phase(x, exp(x), c) * y;
    return cost_of({c, x}, {z, gradients(sum(z), {x})[0]}, false, {{}, {1000, 100}});
  };
  const Cost known = cost({1000, 100}), open = cost({None, 100});
  EXPECT_EQ(open.steps.size(), known.steps.size()) << known.text << open.text;
  EXPECT_EQ(open.arena, known.arena) << known.text << open.text;
  EXPECT_EQ(open.count("cond"), 0u) << open.text;
}

TEST(PlanSize, ABranchMakesOnlyTheGradientsThatAreNeeded) {
  const Tensor c = input(Shape{}, DType::bool_), x = input({64, 64}), w = input({64, 64});
  const Tensor y = switch_(c, [&] { return dot(x, w); }, [&] { return exp(x); });
  const Cost all = cost_of({c, x, w}, gradients(sum(y * y), {x, w}));
  const Cost one = cost_of({c, x, w}, gradients(sum(y * y), {w}));
  EXPECT_EQ(all.count("cond"), 2u) << all.text;
  EXPECT_LT(one.arena, all.arena) << one.text;
}

// Constants from outside are captured for gradients with respect to them, and are numbers in the plan all the same.
TEST(PlanSize, AConstantFromOutsideALoopIsANumberInIt) {
  const Tensor x = input({20, 8});
  const auto cost = [&](const std::function<Tensor()>& number) {
    const Tensor y =
        map_fn([&](const Tensor& row) { return tanh(row * number()) + number() * 2.0; }, x);
    return cost_of({x}, {y, gradients(sum(y), {x})[0]});
  };
  const Tensor c = constant(Array(0.5f));
  const Cost outside = cost([&] { return c; });
  const Cost inside = cost([&] { return constant(Array(0.5f)); });
  EXPECT_EQ(outside.steps, inside.steps) << outside.text << inside.text;
  EXPECT_EQ(outside.arena, inside.arena) << outside.text << inside.text;
}

#ifdef HORNGATE_COUNTS_ALLOCATIONS
size_t allocations_of_a_call(int layers) {
  const Tensor x = input({16, 32});
  Tensor y = x;
  for (int i = 0; i < layers; ++i) y = softmax(relu(dot(y, transpose(y)))) + sum(y);
  const Function f = function({x}, {sum(y)});
  const Arrays at{testing::random_array({16, 32}, 1).cast(DType::float32)};
  for (int i = 0; i < 3; ++i) (void)f(at);
  const size_t before = allocations;
  (void)f(at);
  return allocations - before;
}

TEST(PlanSize, ACallAllocatesNoMoreForMoreSteps) {
  const size_t small = allocations_of_a_call(1), large = allocations_of_a_call(40);
  EXPECT_LE(small, 8u);
  EXPECT_EQ(small, large);
}
#endif

}  // namespace
}  // namespace horngate
