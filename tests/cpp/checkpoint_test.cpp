// Loops whose tape is larger than the budget: cut into blocks, the same values and gradients, less memory.
#include "passes/checkpoint.h"

#include "engines/native/executable.h"
#include "engines/registry.h"
#include "finite_differences.h"
#include "ir/to_graph.h"
#include "passes/passes.h"
#include "prims/scan.h"

namespace horngate {
namespace {

using testing::input64;
using testing::random_array;

constexpr int64_t kUnits = 6, kFeatures = 3, kBatch = 2;

struct Budget {
  explicit Budget(size_t bytes) { set_tape_budget(bytes); }
  ~Budget() { set_tape_budget(0); }
};

struct Net {
  Tensors inputs, results;  // results: final state, outputs, gradients
};

struct Form {
  int64_t axis = 1;
  bool x_reversed = false, y_reversed = false, noise = false;
};

/// An LSTM with captures; its steps know their number, and may drop some of the state at random.
Net make_net(const Form& form) {
  const Tensor x = input64({None, None, kFeatures}), w = input64({kFeatures, 4 * kUnits}),
               r = input64({kUnits, 4 * kUnits}), b = input64({4 * kUnits}),
               start = input64({None, kUnits});
  const ScanSpec spec{.xs = {x},
                      .x_axes = {form.axis},
                      .x_reversed = {form.x_reversed},
                      .inits = {start, start},
                      .y_axes = {form.axis},
                      .y_reversed = {form.y_reversed}};
  const Tensors out = make_scan(
      "test", spec, [&](const Tensors& xs, const Tensors& s, const Tensor& step) -> StepResult {
        const Tensor h = form.noise ? dropout(s[0], 0.5, {.seed = 3}) : s[0];
        const Tensor z = dot(xs[0], w) + dot(h, r) + b;
        const auto gate = [&](int64_t k) {
          return prim::slice_axis(z, 1, k * kUnits, (k + 1) * kUnits);
        };
        const Tensor age = 1.0 / (cast(step, DType::float64) + 2.0);
        const Tensor c = sigmoid(gate(1)) * s[1] + sigmoid(gate(0)) * tanh(gate(2)) * age;
        const Tensor next = sigmoid(gate(3)) * tanh(c);
        return {{next, c}, {next * c}};
      });
  const Tensor loss = sum(square(out[0])) + sum(out[2] * out[2]) + sum(out[1]);
  Net net{{x, w, r, b, start}, {out[0], out[1], out[2]}};
  for (const Tensor& g : gradients(loss, net.inputs)) net.results.push_back(g);
  return net;
}

Arrays values(const Form& form, int64_t length) {
  const Ints dims =
      form.axis == 0 ? Ints{length, kBatch, kFeatures} : Ints{kBatch, length, kFeatures};
  return {random_array(dims, 1), random_array({kFeatures, 4 * kUnits}, 2),
          random_array({kUnits, 4 * kUnits}, 3), random_array({4 * kUnits}, 4),
          random_array({kBatch, kUnits}, 5)};
}

Graph plan_of(const Net& net, const Arrays& at) {
  const FunctionGraph p = to_function_graph(net.inputs, net.results, {});
  std::vector<TensorType> types;
  for (size_t i = 0; i < p.graph.inputs.size(); ++i)
    types.push_back(i < at.size() ? TensorType(at[i].dtype(), at[i].shape())
                                  : p.graph.values[p.graph.inputs[i]]);
  return improve_loops(*specialise(prepare(p.graph, true, evaluate), types, {}).result);
}

size_t loops_in_loops(const Graph& g) {
  size_t n = 0;
  for (const GraphNode& node : g.nodes)
    for (const GraphRef& body : node.bodies)
      for (const GraphNode& inner : body->nodes) n += inner.prim == Prim::scan;
  return n;
}

void expect_same(const Form& form, int64_t length, size_t budget) {
  const Arrays at = values(form, length);
  Arrays whole, cut;
  {
    const Net net = make_net(form);
    whole = function(net.inputs, net.results)(at);
  }
  {
    const Budget small(budget);
    const Net net = make_net(form);
    cut = function(net.inputs, net.results)(at);
  }
  ASSERT_EQ(whole.size(), cut.size());
  for (size_t k = 0; k < whole.size(); ++k) {
    ASSERT_EQ(whole[k].shape().str(), cut[k].shape().str());
    // Weights' gradients are summed up block by block.
    for (int64_t i = 0; i < whole[k].size(); ++i)
      ASSERT_NEAR(whole[k].data<double>()[i], cut[k].data<double>()[i],
                  1e-13 * std::max(1.0, std::fabs(whole[k].data<double>()[i])))
          << "result " << k << ", element " << i << ", length " << length;
  }
}

TEST(Checkpoints, GradientsAreTheSame) {
  for (int64_t length : {1, 4, 7, 100, 101})
    for (size_t budget : {size_t{1}, size_t{2000}}) expect_same({}, length, budget);
}

TEST(Checkpoints, InAllDirections) {
  for (int64_t axis : {0, 1})
    for (bool x_reversed : {false, true})
      for (bool y_reversed : {false, true})
        for (int64_t length : {12, 13})
          expect_same({.axis = axis, .x_reversed = x_reversed, .y_reversed = y_reversed}, length,
                      3000);
}

TEST(Checkpoints, RandomNumbersAreTheSameTheSecondTime) {
  for (int64_t length : {12, 13, 101}) expect_same({.noise = true}, length, 1000);
}

TEST(Checkpoints, MemoryGrowsWithTheRootOfTheLength) {
  const Net net = make_net({});
  const auto arena = [&](int64_t length, size_t budget) {
    const Budget small(budget);
    const Graph plan = plan_of(net, values({}, length));
    EXPECT_EQ(loops_in_loops(plan) > 0, budget < (size_t{1} << 30));
    return native::Executable(plan).arena_bytes();
  };
  for (int64_t length : {400, 401}) EXPECT_LT(4 * arena(length, 4096), arena(length, 1 << 30));
}

TEST(Checkpoints, LoopsWithinTheBudgetStayWhole) {
  const Net net = make_net({});
  const Budget enough(1 << 20);
  EXPECT_EQ(loops_in_loops(plan_of(net, values({}, 20))), 0u);
}

TEST(Checkpoints, SecondDerivatives) {
  const Budget small(1);
  const Tensor x = input64({5, 2, 2}), u = input64({2, 2}), h = input64({2, 2});
  const ScanSpec spec{
      .xs = {x}, .x_axes = {0}, .x_reversed = {0}, .inits = {h}, .y_axes = {0}, .y_reversed = {0}};
  const Tensors out = make_scan(
      "test", spec, [&](const Tensors& xs, const Tensors& s, const Tensor&) -> StepResult {
        const Tensor next = tanh(dot(s[0], u) + xs[0]);
        return {{next}, {next}};
      });
  testing::expect_two_gradients(
      {x, u, h}, out[1],
      {random_array({5, 2, 2}, 1), random_array({2, 2}, 2), random_array({2, 2}, 3)});
}

}  // namespace
}  // namespace horngate
