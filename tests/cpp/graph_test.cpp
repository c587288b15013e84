// The graph: depth, lifetime, passes, printers, arrays.
#include <gtest/gtest.h>
#include <horngate/horngate.h>
#include <malloc.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "engines/registry.h"
#include "grad/reverse.h"
#include "ir/dlpack.h"
#include "ir/node.h"
#include "ir/node_index.h"
#include "ir/to_graph.h"
#include "passes/passes.h"
#include "plan/function_impl.h"
#include "prims/build.h"
#include "sanitizers.h"

namespace horngate {
namespace {

double seconds_of(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Runs f on a thread with a stack of 1 MB: recursion over depth would overflow it.
void on_small_stack(const std::function<void()>& f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  pthread_t thread;
  auto entry = [](void* p) -> void* {
    (*static_cast<const std::function<void()>*>(p))();
    return nullptr;
  };
  ASSERT_EQ(
      pthread_create(&thread, &attributes, entry, const_cast<void*>(static_cast<const void*>(&f))),
      0);
  pthread_join(thread, nullptr);
}

/// A line of /proc/self/status; 0 if there is none.
size_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(field + ":", 0) == 0) return std::stoull(line.substr(field.size() + 1)) << 10;
  return 0;
}

/// Starts to measure the largest amount of memory (VmHWM) anew, and gives what is held now; 0 where that cannot be
/// measured, as with sanitizers.
size_t memory_peak_from_now() {
  if (testing::kSanitized) return 0;
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
  return status_bytes("VmHWM");
}

TEST(Depth, AMillionNodes) {
  const int64_t before = live_node_count();
  const auto work = [](int n) {
    return seconds_of([n] {
      const Tensor x = placeholder({.shape = {2}}), b = placeholder({.shape = {2}});
      Tensor y = x;
      for (int i = 0; i < n; ++i) y = i % 2 ? y + b : y * b;
      const Tensor g = gradients(sum(y), {x})[0];
      const Function f = function({x, b}, {y, g});
      y = {};
      const Arrays out = f({Array::of({1.f, 2.f}), Array::of({1.f, 1.f})});
      EXPECT_EQ(out[0].to_vector<float>(), (std::vector<float>{1.f + static_cast<float>(n / 2),
                                                               2.f + static_cast<float>(n / 2)}));
      EXPECT_EQ(out[1].to_vector<float>(), (std::vector<float>{1.f, 1.f}));
    });
  };
  on_small_stack([&] {
    const double small = work(100'000);
    const size_t held = memory_peak_from_now();
    const double large = work(1'000'000);
    EXPECT_LT(large, 25 * small + 1.0)
        << "time must grow linearly: " << small << " s, then " << large << " s";
    // Its gradient makes it 1.5 million nodes.
    if (held != 0) {
      EXPECT_LT(status_bytes("VmHWM") - held, size_t{1} << 30);
    }
  });
  EXPECT_EQ(live_node_count(), before);
}

TEST(Lifetime, AFunctionOutlivesTheNodesItWasMadeFrom) {
  const int64_t before = live_node_count();
  Function f;
  {
    const Tensor x = placeholder({.shape = {None}});
    f = function({x}, {exp(x) * 2.0});
  }
  EXPECT_EQ(live_node_count(), before);
  EXPECT_EQ(f({Array::of({0.f})})[0].item<float>(), 2.0f);
}

TEST(NodeIndex, HoldsWhatAMapHolds) {
  std::mt19937_64 random(7);
  Tensors nodes;
  std::vector<Tensor> others;
  for (int i = 0; i < 3000; ++i) {
    // Ids with gaps of all sizes between those that are numbered.
    const uint64_t gap = i % 3 == 0 ? 0 : random() % 40;
    for (uint64_t k = 0; k < gap; ++k) others.push_back(prim::scalar(1, DType::float32));
    nodes.push_back(prim::scalar(2, DType::float32));
  }
  NodeIndex index;
  EXPECT_EQ(index.find(nodes[0].node()), NodeIndex::kNone);
  std::map<const Node*, uint32_t> expected;
  for (int i = 0; i < 10000; ++i) {
    const Node* n = nodes[random() % nodes.size()].node();
    const auto it = expected.find(n);
    EXPECT_EQ(index[n], it == expected.end() ? NodeIndex::kNone : it->second);
    index[n] = expected[n] = static_cast<uint32_t>(random() >> 33);
  }
  for (const Tensor& t : nodes) {
    const auto it = expected.find(t.node());
    EXPECT_EQ(index.find(t.node()), it == expected.end() ? NodeIndex::kNone : it->second);
  }
  for (const Tensor& t : others) EXPECT_EQ(index.find(t.node()), NodeIndex::kNone);
}

TEST(ValueTypes, AreWhatWasPutIn) {
  std::mt19937_64 random(8);
  std::vector<TensorType> expected;
  ValueTypes types, again;
  for (int i = 0; i < 5000; ++i) {
    Ints dims;
    for (uint64_t n = random() % 6; n > 0; --n)
      dims.push_back(static_cast<int64_t>(random() % 7) - 1);
    expected.emplace_back(random() % 2 ? DType::float32 : DType::int8, Shape(dims),
                          random() % 9 == 0);
    types.push_back(expected.back());
  }
  for (const TensorType& t : types) again.push_back(t);
  ASSERT_EQ(types.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(types[i], expected[i]);
  EXPECT_TRUE(types == again);
  again.set(17, TensorType(DType::float64, {3}));
  EXPECT_FALSE(types == again);
  again.set(17, expected[17]);
  EXPECT_TRUE(types == again);
}

TEST(FunctionGraph, OneResultIsFedAndTheOtherIsComputed) {
  const Tensor x = placeholder({.shape = {4}});
  const Tensors best = outputs_of(emit(attrs::top_k{.k = 2}, {x}));
  const Function f = function({x, best[1]}, {best[0], best[1] + 1});
  const Array places = Array::of<int64_t>({7, 8}).cast(best[1].dtype());
  const Arrays out = f({Array::of({1.f, 4.f, 3.f, 2.f}), places});
  EXPECT_EQ(out[0].to_vector<float>(), (std::vector<float>{4.f, 3.f}));
  EXPECT_EQ(out[1].to_vector<int64_t>(), (std::vector<int64_t>{8, 9}));
}

size_t count(const Graph& g, Prim prim) {
  size_t n = 0;
  for (const GraphNode& node : g.nodes) n += node.prim == prim;
  return n;
}

TEST(Passes, PhaseCseAndDeadCode) {
  const Tensor x = placeholder({.shape = {None, 4}});
  const Tensor a = exp(x) + exp(x), dropped = in_train_phase(dropout(a, 0.5), a);
  const Graph program = to_function_graph({x}, {dropped}, {}).graph;
  const Graph test = prepare(program, false, evaluate), train = prepare(program, true, evaluate);
  verify(test, "prepare");
  verify(train, "prepare");
  EXPECT_EQ(count(test, Prim::exp), 1u);
  for (const GraphNode& n : test.nodes)
    EXPECT_EQ(primitive(n.prim).flags & kRandom, 0u) << primitive(n.prim).name;
  EXPECT_GT(train.nodes.size(), test.nodes.size());
}

TEST(Passes, ConstantsFold) {
  const Tensor x = placeholder({.shape = {None}});
  const Tensor c = exp(constant(Array(2.0f))) * 3.0 + sum(constant(Array::of({1.f, 2.f})));
  const Graph g = prepare(to_function_graph({x}, {x * c}, {}).graph, false, evaluate);
  EXPECT_EQ(count(g, Prim::constant), 1u) << print_text(g);
  EXPECT_EQ(g.nodes.size(), 2u) << print_text(g);
  EXPECT_NEAR(function({x}, {x * c})({Array::of({1.f})})[0].item<float>(), std::exp(2.0f) * 3 + 3,
              1e-5);
}

TEST(Passes, SpecialisedGraphsAreStatic) {
  const Tensor x = placeholder({.shape = {None, None}});
  const Tensor y = mean(x, {.axis = 0}) + sum(x);
  const Tensor z =
      reshape(x, ShapeArg{prim::squeeze(prim::slice_axis(prim::shape_of(x), 0, 1, 2), {0}), -1});
  const Graph g = prepare(to_function_graph({x}, {y, z}, {}).graph, false, evaluate);
  const Specialised s = specialise(g, {TensorType(DType::float32, {3, 4})}, {});
  ASSERT_TRUE(s.result.has_value());
  verify(*s.result, "specialise");
  EXPECT_EQ(count(*s.result, Prim::shape_of), 0u);
  EXPECT_EQ(s.result->values[s.result->outputs[0]].shape.str(), "(4,)");
  EXPECT_EQ(s.result->values[s.result->outputs[1]].shape.str(), "(4, 3)");
}

TEST(Passes, VerifierRejectsBrokenGraphs) {
  Graph g;
  const ValueId x = g.add_value(TensorType(DType::float32, {2})),
                y = g.add_value(TensorType(DType::int32, {2}));
  g.inputs = {x};
  g.nodes.push_back({Prim::exp, {x}, {y}, {}, {}, nullptr});
  g.outputs = {y};
  EXPECT_THROW(verify(g, "test"), RuntimeError);  // exp of float32 is not int32
  g.values.set(y, TensorType(DType::float32, g.values[y].shape));
  verify(g, "test");
  g.nodes[0].in[0] = y;
  EXPECT_THROW(verify(g, "test"), RuntimeError);  // uses its own result
}

TEST(Printers, TextAndDot) {
  clear_session();
  const Tensor x = placeholder({.shape = {None, 3}});
  const Graph g = to_function_graph({x}, {sum(exp(x), {.axis = 1})}, {}).graph;
  EXPECT_EQ(print_text(g),
            "%0 = input : float32(None, 3)\n"
            "%1 = exp(%0) : float32(None, 3)\n"
            "%2 = reduce_sum(%1; axes=(1), keepdims=false) : float32(None,)\n"
            "return %2\n");
  const std::string dot = print_dot(g);
  EXPECT_NE(dot.find("i0 -> n0"), std::string::npos);
  EXPECT_NE(dot.find("n1 -> o0"), std::string::npos);
}

// A thread keeps small blocks for itself: they may come from another one, and outlive theirs.
TEST(ArrayTest, SmallArraysGoFromThreadToThread) {
  std::vector<Array> made;
  std::thread([&] {
    for (int64_t n = 0; n < 400; ++n) made.push_back(Array::full(DType::int32, {n}, 7.0));
    for (size_t i = 0; i < made.size(); i += 2) made[i] = Array();
  }).join();
  for (size_t i = 1; i < made.size(); i += 2) {
    const Array other = Array::zeros(DType::int32, {static_cast<int64_t>(i)});
    const auto values = made[i].to_vector<int32_t>();
    EXPECT_EQ(values, std::vector<int32_t>(i, 7));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(other.raw()) % 64, 0u);
  }
  std::thread([held = std::move(made)]() mutable { held.clear(); }).join();
}

TEST(ArrayTest, ViewsCastsAndDlpack) {
  Array a = Array::of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Array column =
      Array::view(a.raw(), DType::float32, {3, 2}, {1, 3});  // the transpose, without a copy
  EXPECT_FALSE(column.is_contiguous());
  EXPECT_EQ(column.to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(a.rows(1, 2).to_vector<int64_t>(), (std::vector<int64_t>{4, 5, 6}));
  EXPECT_EQ(a.contiguous().raw(), a.raw());
  DLManagedTensor* managed = a.to_dlpack();
  const Array back = Array::from_dlpack(managed);
  EXPECT_EQ(back.raw(), a.raw());
  a = Array();
  EXPECT_EQ(back.to_vector<float>()[5], 6.0f);
  EXPECT_EQ(Array::of({1e30f, -5.7f, NAN}).cast(DType::int32).to_vector<int32_t>(),
            (std::vector<int32_t>{INT32_MIN, -5, INT32_MIN}));
  for (float v : {0.0f, 1.0f, -2.5f, 65504.0f, 6e-8f, 1e-5f}) {
    EXPECT_NEAR(to_float(to_float16(v)), v, std::fabs(v) * 1e-3 + 3e-8f);
    EXPECT_NEAR(to_float(to_bfloat16(v)), v, std::fabs(v) * 8e-3);
  }
  EXPECT_THROW(Array(DType::float32, Ints{int64_t{1} << 40, int64_t{1} << 40}), ValueError);
}

TEST(ArrayTest, ViewsAreAlignedToTheirElements) {
  const Array bytes = Array::zeros(DType::uint8, {64});
  char* const odd = static_cast<char*>(bytes.raw()) + 2;
  EXPECT_EQ(Array::view(odd, DType::int16, {4}).size(), 4);
  EXPECT_THROW((void)Array::view(odd, DType::float32, {4}), ValueError);
  DLManagedTensor* managed = bytes.rows(0, 8).to_dlpack();
  managed->dl_tensor.dtype = {kDLFloat, 32, 1};
  managed->dl_tensor.shape[0] = 2;
  managed->dl_tensor.byte_offset = 2;
  EXPECT_THROW((void)Array::from_dlpack(managed), ValueError);  // and it was given back
  EXPECT_TRUE(bytes.storage().unique());
}

TEST(ShapeTest, TextsAndProducts) {
  EXPECT_EQ((Shape{None, 28, 28, 1}).str(), "(None, 28, 28, 1)");
  EXPECT_EQ((Shape{3}).str(), "(3,)");
  EXPECT_EQ(Shape{}.str(), "()");
  EXPECT_EQ(checked_product(Shape({0, None}).dims()), 0);
  EXPECT_THROW((void)checked_product(Shape({int64_t{1} << 62, 4}).dims()), ValueError);
}

}  // namespace
}  // namespace horngate
