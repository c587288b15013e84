// What the passes do with loops: products before and after them, one cell per step, one body for all lengths.
#include "engines/native/bodies.h"
#include "engines/registry.h"
#include "finite_differences.h"
#include "ir/to_graph.h"
#include "passes/passes.h"
#include "prims/scan.h"

namespace horngate {
namespace {

using testing::expect_gradients;
using testing::expect_two_gradients;
using testing::input64;
using testing::random_array;

constexpr int64_t kUnits = 3, kFeatures = 2;

Tensor columns(const Tensor& x, int64_t gate) {
  return prim::slice_axis(x, static_cast<int64_t>(x.ndim()) - 1, gate * kUnits,
                          (gate + 1) * kUnits);
}

/// An LSTM over axis 1, its products written as one (2) or as one per gate (1).
Tensors lstm(int implementation, const Tensor& x, const Tensor& w, const Tensor& r, const Tensor& b,
             const Tensor& start, bool reversed = false) {
  ScanSpec spec{.xs = {x},
                .x_axes = {1},
                .x_reversed = {reversed},
                .inits = {start, start},
                .y_axes = {1},
                .y_reversed = {0}};
  return make_scan(
      "test", spec, [&](const Tensors& xs, const Tensors& state, const Tensor&) -> StepResult {
        Tensor gate[4];
        if (implementation == 2) {
          const Tensor z = dot(xs[0], w) + dot(state[0], r) + b;
          for (int64_t k = 0; k < 4; ++k) gate[k] = columns(z, k);
        } else {
          for (int64_t k = 0; k < 4; ++k)
            gate[k] = dot(xs[0], columns(w, k)) + columns(b, k) + dot(state[0], columns(r, k));
        }
        const Tensor c = sigmoid(gate[1]) * state[1] + sigmoid(gate[0]) * tanh(gate[2]);
        const Tensor h = sigmoid(gate[3]) * tanh(c);
        return {{h, c}, {h}};
      });
}

struct Lstm {
  Tensor x = input64({None, None, kFeatures}), w = input64({kFeatures, 4 * kUnits}),
         r = input64({kUnits, 4 * kUnits}), b = input64({4 * kUnits}),
         start = input64({None, kUnits});
  Tensors inputs() const { return {x, w, r, b, start}; }
  static Arrays values(int64_t batch, int64_t length) {
    return {random_array({batch, length, kFeatures}, 1), random_array({kFeatures, 4 * kUnits}, 2),
            random_array({kUnits, 4 * kUnits}, 3), random_array({4 * kUnits}, 4),
            random_array({batch, kUnits}, 5)};
  }
};

Graph plan_of(const Tensors& inputs, const Tensors& outputs, const Arrays& at) {
  const FunctionGraph p = to_function_graph(inputs, outputs, {});
  std::vector<TensorType> types;
  for (const Array& a : at) types.emplace_back(a.dtype(), a.shape());
  return improve_loops(*specialise(prepare(p.graph, false, evaluate), types, {}).result);
}

size_t count(const Graph& g, Prim prim) {
  size_t n = 0;
  for (const GraphNode& node : g.nodes) n += node.prim == prim;
  return n;
}

std::vector<GraphRef> bodies_of(const Graph& g) {
  std::vector<GraphRef> bodies;
  for (const GraphNode& n : g.nodes)
    for (const GraphRef& b : n.bodies) bodies.push_back(b);
  return bodies;
}

/// Steps of a compiled body that compute something.
size_t working_steps(const Graph& body) {
  const std::string text = native::Executable(body).describe();
  size_t n = 0;
  for (size_t at = text.find("step "); at != std::string::npos; at = text.find("step ", at + 1))
    n += text.compare(text.find(": ", at) + 2, 4, "copy") != 0;
  return n;
}

TEST(Loops, AnLstmIsOneProductAndOneGroupPerStep) {
  for (int implementation : {1, 2}) {
    const Lstm m;
    const Tensors out = lstm(implementation, m.x, m.w, m.r, m.b, m.start);
    const Tensors grads = gradients(sum(square(out[0])), {m.w, m.r, m.b});
    Tensors outputs{out[0]};
    outputs.insert(outputs.end(), grads.begin(), grads.end());
    const Graph plan = plan_of(m.inputs(), outputs, Lstm::values(4, 6));
    const std::vector<GraphRef> bodies = bodies_of(plan);
    ASSERT_EQ(bodies.size(), 2u);
    for (const GraphRef& body : bodies) {
      EXPECT_EQ(count(*body, Prim::dot_general), 1u) << print_text(*body);
      EXPECT_EQ(count(*body, Prim::pad), 0u) << print_text(*body);
    }
    EXPECT_EQ(working_steps(*bodies[0]), 2u) << print_text(*bodies[0]);
    EXPECT_LE(working_steps(*bodies[1]), 3u) << print_text(*bodies[1]);
    // x W before the loops, dW and dR behind them: one product each.
    EXPECT_EQ(count(plan, Prim::dot_general), 3u) << print_text(plan);
  }
}

TEST(Loops, BothFormsOfAnLstmAgreeAndDifferentiate) {
  for (int64_t length : {0, 1, 7})
    for (bool reversed : {false, true}) {
      const Lstm m;
      const Tensors one = lstm(1, m.x, m.w, m.r, m.b, m.start, reversed),
                    two = lstm(2, m.x, m.w, m.r, m.b, m.start, reversed);
      const Arrays at = Lstm::values(2, length);
      const Arrays got = function(m.inputs(), {one[0], two[0], one[2], two[2]})(at);
      for (size_t k = 0; k < 4; k += 2)
        for (int64_t i = 0; i < got[k].size(); ++i)
          EXPECT_NEAR(got[k].data<double>()[i], got[k + 1].data<double>()[i], 1e-14);
      if (length == 0) continue;
      for (const Tensors& form : {one, two}) expect_gradients(m.inputs(), form[2] + 0.0, at);
    }
}

/// Of a GRU, the reset gate in front of its product.
TEST(Loops, AGruComputesWhatItNeedsAndKeepsNoMore) {
  const Tensor x = input64({None, None, kFeatures}), w = input64({kFeatures, 3 * kUnits}),
               r = input64({kUnits, 3 * kUnits}), start = input64({None, kUnits});
  const ScanSpec spec{.xs = {x},
                      .x_axes = {1},
                      .x_reversed = {0},
                      .inits = {start},
                      .y_axes = {1},
                      .y_reversed = {0}};
  const Tensors out = make_scan(
      "test", spec, [&](const Tensors& xs, const Tensors& state, const Tensor&) -> StepResult {
        const Tensor &h = state[0], in = dot(xs[0], w),
                     gates = dot(h, prim::slice_axis(r, 1, 0, 2 * kUnits));
        const Tensor update = sigmoid(columns(in, 0) + columns(gates, 0)),
                     reset = sigmoid(columns(in, 1) + columns(gates, 1));
        const Tensor fresh =
            tanh(columns(in, 2) + dot(reset * h, prim::slice_axis(r, 1, 2 * kUnits, 3 * kUnits)));
        const Tensor next = update * h + (1.0 - update) * fresh;
        return {{next}, {next}};
      });
  constexpr int64_t kBatch = 4, kLength = 6;
  const Arrays at{random_array({kBatch, kLength, kFeatures}, 1),
                  random_array({kFeatures, 3 * kUnits}, 2), random_array({kUnits, 3 * kUnits}, 3),
                  random_array({kBatch, kUnits}, 4)};
  const Tensors grads = gradients(sum(square(out[0])), {w, r});
  const Graph plan = plan_of({x, w, r, start}, {grads[0], grads[1]}, at);
  int64_t made = 0, loops = 0;
  for (const GraphNode& n : plan.nodes) {
    if (n.prim == Prim::dot_general) made += plan.values[n.out[0]].shape.size();
    // Both gates, the state and the fresh one: 1 - update is computed again.
    if (n.prim == Prim::scan && ++loops == 2) {
      EXPECT_EQ(n.as<attrs::scan>().xs, 4);
    }
  }
  EXPECT_EQ(loops, 2);
  EXPECT_EQ(made, (kBatch * kLength + kFeatures + kUnits) * 3 * kUnits) << print_text(plan);
  expect_gradients({x, w, r, start}, out[1], at);
}

TEST(Loops, SecondDerivativesOfAnLstm) {
  const Lstm m;
  const Tensors out = lstm(2, m.x, m.w, m.r, m.b, m.start);
  expect_two_gradients(m.inputs(), out[0], Lstm::values(2, 3));
}

/// Products that no step needs, constants of the loop, a sum of a convolution's gradients.
TEST(Loops, WhatFollowsAProductGoesBehindTheLoop) {
  for (int64_t axis : {0, 1})
    for (bool x_reversed : {false, true})
      for (bool y_reversed : {false, true}) {
        const Tensor x = input64({None, None, 2}), h = input64({None, 3}), u = input64({3, 3}),
                     v = input64({3, 4}), b = input64({4}), scale = input64({3});
        ScanSpec spec{.xs = {x},
                      .x_axes = {axis},
                      .x_reversed = {x_reversed},
                      .inits = {h},
                      .y_axes = {axis},
                      .y_reversed = {y_reversed}};
        const Tensors out = make_scan(
            "test", spec, [&](const Tensors& xs, const Tensors& s, const Tensor&) -> StepResult {
              // exp(scale) is the same in each step.
              const Tensor next =
                  tanh(dot(s[0], u) * exp(scale) + sum(xs[0], {.axis = 1, .keepdims = true}));
              return {{next}, {tanh(dot(next, v) + b)}};
            });
        const Arrays at{random_array(axis == 0 ? Ints{5, 2, 2} : Ints{2, 5, 2}, 1),
                        random_array({2, 3}, 2),
                        random_array({3, 3}, 3),
                        random_array({3, 4}, 4),
                        random_array({4}, 5),
                        random_array({3}, 6)};
        const Graph plan = plan_of({x, h, u, v, b, scale}, {out[1]}, at);
        ASSERT_EQ(bodies_of(plan).size(), 1u);
        EXPECT_EQ(count(*bodies_of(plan)[0], Prim::dot_general), 1u);
        EXPECT_EQ(count(*bodies_of(plan)[0], Prim::exp), 0u);
        expect_gradients({x, h, u, v, b, scale}, out[1], at);
      }
}

/// Without sequences all that a step makes comes from the state.
TEST(Loops, AProductOfAStateAloneGoesBehindTheLoop) {
  const Tensor h = input64({2, 3}), u = input64({3}), v = input64({3, 4});
  ScanSpec spec;
  spec.inits = {h};
  spec.y_axes = {1};
  spec.y_reversed = {0};
  spec.length = 5;
  const Tensors out =
      make_scan("test", spec, [&](const Tensors&, const Tensors& s, const Tensor&) -> StepResult {
        const Tensor next = tanh(s[0] * u);
        return {{next}, {dot(next, v)}};
      });
  const Arrays at{random_array({2, 3}, 1), random_array({3}, 2), random_array({3, 4}, 3)};
  const Graph plan = plan_of({h, u, v}, {out[1]}, at);
  ASSERT_EQ(bodies_of(plan).size(), 1u);
  EXPECT_EQ(count(*bodies_of(plan)[0], Prim::dot_general), 0u) << print_text(plan);
  expect_gradients({h, u, v}, out[1], at);
}

TEST(Loops, AProductOfTwoStatesIsOneProduct) {
  const Tensor x = input64({None, None, 3}), h = input64({None, 3}), c = input64({None, 2}),
               u = input64({3, 3}), v = input64({2, 3}), w = input64({3, 2});
  const auto step = [&](const Tensor& now, const Tensors& s) -> Tensors {
    const Tensor next = tanh(now + (dot(s[0], u) + dot(s[1], v)));
    return {next, dot(next, w)};
  };
  ScanSpec spec{.xs = {x},
                .x_axes = {1},
                .x_reversed = {0},
                .inits = {h, c},
                .y_axes = {1},
                .y_reversed = {0}};
  const Tensors out = make_scan(
      "test", spec, [&](const Tensors& xs, const Tensors& s, const Tensor&) -> StepResult {
        const Tensors next = step(xs[0], s);
        return {next, {next[0]}};
      });
  const Tensors inputs{x, h, c, u, v, w};
  const Arrays at{random_array({2, 4, 3}, 1), random_array({2, 3}, 2), random_array({2, 2}, 3),
                  random_array({3, 3}, 4),    random_array({2, 3}, 5), random_array({3, 2}, 6)};
  Tensors by_hand{h, c};
  for (int64_t t = 0; t < 4; ++t)
    by_hand = step(squeeze(slice(x, {0, t, 0}, {-1, 1, 3}), 1), by_hand);
  const Arrays got = function(inputs, {out[0], by_hand[0]})(at);
  for (int64_t i = 0; i < got[0].size(); ++i)
    EXPECT_NEAR(got[0].data<double>()[i], got[1].data<double>()[i], 1e-12);
  const Graph plan = plan_of(inputs, {out[0]}, at);
  ASSERT_EQ(bodies_of(plan).size(), 1u);
  EXPECT_EQ(count(*bodies_of(plan)[0], Prim::dot_general), 2u) << print_text(plan);
}

TEST(Loops, AConvolutionOverASequence) {
  const Tensor x = input64({None, None, 5, 2}), h = input64({None, 5, 3}), k = input64({3, 2, 3}),
               r = input64({3, 3, 3});
  ScanSpec spec{
      .xs = {x}, .x_axes = {1}, .x_reversed = {0}, .inits = {h}, .y_axes = {1}, .y_reversed = {0}};
  const Tensors out = make_scan(
      "test", spec, [&](const Tensors& xs, const Tensors& s, const Tensor&) -> StepResult {
        const Tensor next = tanh(conv1d(xs[0], k, {.padding = Padding::same}) +
                                 conv1d(s[0], r, {.padding = Padding::same}));
        return {{next}, {next}};
      });
  const Arrays at{random_array({2, 3, 5, 2}, 1), random_array({2, 5, 3}, 2),
                  random_array({3, 2, 3}, 3), random_array({3, 3, 3}, 4)};
  const Graph plan = plan_of({x, h, k, r}, {out[1]}, at);
  EXPECT_EQ(count(*bodies_of(plan)[0], Prim::conv), 1u);
  EXPECT_EQ(count(plan, Prim::conv), 1u);
  expect_gradients({x, h, k, r}, out[1], at);
}

/// What a loop derives from variables is kept from call to call, until they change.
TEST(Loops, FollowVariables) {
  const auto array = [](Ints dims, uint64_t seed) {
    return random_array(std::move(dims), seed).cast(DType::float32);
  };
  constexpr int64_t kWidth = 24;
  const Tensor x = placeholder({.shape = {2, 5, kWidth}});
  const Variable w = variable(array({kWidth, kWidth}, 1)), r = variable(array({kWidth, kWidth}, 2));
  const ScanSpec spec{.xs = {x},
                      .x_axes = {1},
                      .x_reversed = {0},
                      .inits = {zeros_like(prim::slice_axis(x, 1, 0, 1))},
                      .y_axes = {1},
                      .y_reversed = {0}};
  const auto net = [&] {
    ScanSpec from = spec;
    from.inits = {reshape(spec.inits[0], {2, kWidth})};
    return make_scan("test", from,
                     [&](const Tensors& xs, const Tensors& s, const Tensor&) -> StepResult {
                       const Tensor next = tanh(dot(xs[0], w) + dot(s[0], r));
                       return {{next}, {next}};
                     });
  };
  const Tensors out = net();
  const Function kept = function({x}, {out[0], out[1]});
  const Arrays at{array({2, 5, kWidth}, 3)};
  for (uint64_t turn = 0; turn < 3; ++turn) {
    if (turn == 1) set_value(r, array({kWidth, kWidth}, 7));
    const Tensors again = net();
    const Arrays want = function({x}, {again[0], again[1]})(at);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const Arrays got = kept(at);
      for (size_t k = 0; k < 2; ++k)
        EXPECT_EQ(got[k].to_vector<float>(), want[k].to_vector<float>()) << "turn " << turn;
    }
  }
}

TEST(Loops, OneBodyForAllLengths) {
  const Lstm m;
  const Tensors out = lstm(2, m.x, m.w, m.r, m.b, m.start);
  const Tensor dr = gradients(sum(out[0]), {m.r})[0];
  const Function f = function(m.inputs(), {out[0], dr});
  f(Lstm::values(2, 3));
  const size_t before = native::bodies_compiled();
  for (int64_t length = 4; length < 40; ++length) f(Lstm::values(2, length));
  EXPECT_EQ(native::bodies_compiled(), before);
}

}  // namespace
}  // namespace horngate
