// Which engine runs what: decompositions, also inside of loops and branches, and what is left to native.
#include <gtest/gtest.h>
#include <horngate/horngate.h>

#include <algorithm>
#include <deque>
#include <set>

#include "engines/common/api.h"
#include "ir/abi.h"
#include "ir/primitive.h"
#include "ir/to_graph.h"
#include "ir/warn.h"
#include "plan/plan.h"

namespace horngate {
namespace {

std::set<std::string> refused;

int supports(void*, const hg_graph* g, uint32_t node) {
  const hg_node& n = *g->node[node];
  if (refused.count(n.prim)) return 0;
  for (uint32_t b = 0; b < n.n_body; ++b)
    for (uint32_t i = 0; i < n.body[b]->n_node; ++i)
      if (!supports(nullptr, n.body[b], i)) return 0;
  return 1;
}

constexpr uint64_t kLoops = HG_CAP_SCAN | HG_CAP_COND;

Graph static_graph(const Tensors& inputs, const Tensors& outputs, const Arrays& feeds) {
  std::vector<TensorType> types;
  for (const Array& a : feeds) types.emplace_back(a.dtype(), a.shape());
  return std::move(
      *specialise(prepare(to_function_graph(inputs, outputs, {}).graph, false, evaluate), types, {})
           .result);
}

Partition cut(const Graph& g, std::set<std::string> lacks, uint64_t caps = kLoops) {
  refused = std::move(lacks);
  const hg_engine_api api =
      engines::make_api("picky", "1", caps, nullptr, supports, nullptr, nullptr, nullptr);
  Engine e;
  e.api = &api;
  return partition(g, e);
}

size_t count(const Graph& g, Prim prim) {
  size_t n = 0;
  for (const GraphNode& node : g.nodes) {
    n += node.prim == prim;
    for (const GraphRef& b : node.bodies) n += count(*b, prim);
  }
  return n;
}

std::vector<std::vector<float>> run(const Graph& g, const Arrays& feeds) {
  const Compiled compiled(native_engine(), g);
  std::deque<hg_type> types;
  std::deque<hg_buffer> buffers;
  std::vector<const hg_buffer*> in;
  std::vector<hg_buffer*> out;
  const auto buffer = [&](ValueId v, const Array& a) {
    types.push_back(c_type(g.values[v]));
    return &buffers.emplace_back(buffer_of(types.back(), a.nbytes(), a.raw()));
  };
  std::vector<Array> results;
  for (size_t i = 0; i < feeds.size(); ++i) in.push_back(buffer(g.inputs[i], feeds[i]));
  for (ValueId v : g.outputs) {
    results.emplace_back(g.values[v].dtype, g.values[v].shape.dims());
    out.push_back(buffer(v, results.back()));
  }
  const hg_run alone{sizeof(hg_run), 1, nullptr, [](void*, int, const char*) {}, nullptr};
  compiled.run(in.data(), out.data(), &alone);
  std::vector<std::vector<float>> values;
  for (const Array& a : results) values.push_back(a.to_vector<float>());
  return values;
}

void expect_same_answers(const Graph& a, const Graph& b, const Arrays& feeds) {
  const auto x = run(a, feeds), y = run(b, feeds);
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(x[i].size(), y[i].size());
    for (size_t k = 0; k < x[i].size(); ++k) EXPECT_NEAR(x[i][k], y[i][k], 1e-5);
  }
}

struct Loop {
  Tensor x = placeholder({.shape = {None, 3}}), w = placeholder({.shape = {3, 3}});
  Arrays feeds{Array::of<float>({1, 2, 3, 4, 5, 6}, {2, 3}),
               Array::of<float>({1, 0, 2, -1, 1, 0, 0.5, 0, 1}, {3, 3})};
  Graph graph;
  explicit Loop(Tensor (*inside)(const Tensor&)) {
    const Tensor y = foldl([&](const Tensor& a, const Tensor& row) { return inside(a) + row; }, x);
    graph = static_graph({x, w}, {softmax(dot(expand_dims(y, 0), w))}, feeds);
  }
};

TEST(Partition, NodesBesideALoopAreDecomposed) {
  const Loop loop([](const Tensor& a) { return exp(a * -1.0); });
  ASSERT_EQ(count(loop.graph, Prim::softmax), 1u);
  const Partition p = cut(loop.graph, {"softmax"});
  EXPECT_EQ(count(p.graph, Prim::softmax), 0u);
  EXPECT_EQ(count(p.graph, Prim::scan), 1u);
  ASSERT_EQ(p.parts.size(), 1u);
  EXPECT_TRUE(p.parts[0].on_engine);
  expect_same_answers(loop.graph, p.graph, loop.feeds);
}

TEST(Partition, NodesInsideOfALoopAreDecomposed) {
  const Loop loop([](const Tensor& a) { return squeeze(softmax(expand_dims(a, 0)), 0); });
  ASSERT_EQ(count(loop.graph, Prim::softmax), 2u);
  const Partition p = cut(loop.graph, {"softmax"});
  EXPECT_EQ(count(p.graph, Prim::softmax), 0u);
  ASSERT_EQ(p.parts.size(), 1u);
  EXPECT_TRUE(p.parts[0].on_engine);
  expect_same_answers(loop.graph, p.graph, loop.feeds);
}

TEST(Partition, ALoopThatTheEngineCannotRunIsNatives) {
  std::vector<std::string> warnings;
  set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  const Loop loop([](const Tensor& a) { return squeeze(softmax(expand_dims(sin(a), 0)), 0); });
  const Partition p = cut(loop.graph, {"softmax", "sin"});
  // Native gets the loop as it was; what comes after it is decomposed for the engine.
  EXPECT_EQ(count(p.graph, Prim::softmax), 1u);
  for (const Part& part : p.parts)
    EXPECT_EQ(part.on_engine, count(part.graph, Prim::scan) == 0) << print_text(part.graph);
  expect_same_answers(loop.graph, p.graph, loop.feeds);
  set_warning_handler({});
}

TEST(Partition, BranchesToo) {
  const Tensor c = placeholder({.shape = Shape{}, .dtype = DType::bool_});
  const Tensor x = placeholder({.shape = {2, 3}});
  const Tensor y = switch_(c, [&] { return softmax(x); }, [&] { return x * 2.0; });
  const Arrays feeds{Array(true), Array::of<float>({1, 2, 3, 4, 5, 6}, {2, 3})};
  const Graph g = static_graph({c, x}, {y}, feeds);
  ASSERT_EQ(count(g, Prim::cond), 1u);
  const Partition p = cut(g, {"softmax"});
  EXPECT_EQ(count(p.graph, Prim::softmax), 0u);
  EXPECT_EQ(count(p.graph, Prim::cond), 1u);
  ASSERT_EQ(p.parts.size(), 1u);
  EXPECT_TRUE(p.parts[0].on_engine);
  expect_same_answers(g, p.graph, feeds);
}

TEST(Partition, FlagsKeepFloat64AndEmptyArraysAway) {
  set_warning_handler([](const std::string&) {});
  const Tensor wide = placeholder({.shape = {2}, .dtype = DType::float64});
  const Tensor empty = placeholder({.shape = {None, 2}}), plain = placeholder({.shape = {2}});
  const Arrays feeds{Array::of<double>({1, 2}), Array::zeros(DType::float32, {0, 2}),
                     Array::of<float>({3, 4})};
  const Graph g = static_graph({wide, empty, plain}, {exp(wide), sin(empty), cos(plain)}, feeds);
  const auto on_engine = [&](uint64_t caps) {
    std::set<Prim> all;
    for (const Part& part : cut(g, {}, caps).parts)
      if (part.on_engine)
        for (const GraphNode& n : part.graph.nodes) all.insert(n.prim);
    return all;
  };
  EXPECT_EQ(on_engine(0), (std::set{Prim::exp, Prim::sin, Prim::cos}));
  EXPECT_EQ(on_engine(HG_CAP_NO_F64), (std::set{Prim::sin, Prim::cos}));
  EXPECT_EQ(on_engine(HG_CAP_NO_EMPTY), (std::set{Prim::exp, Prim::cos}));
  set_warning_handler({});
}

}  // namespace
}  // namespace horngate
