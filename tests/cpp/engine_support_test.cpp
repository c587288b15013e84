// How every primitive runs on every engine: api/engine_support.tsv, from which docs/engines.md is made. What a
// plug-in supports it says without the library that it drives; tensorflow alone asks its library, and where that is
// not installed its column is taken as it is.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <horngate/horngate.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "engines/common/primitives.h"
#include "engines/names.h"
#include "engines/registry.h"
#include "ir/to_graph.h"
#include "ir/warn.h"
#include "plan/plan.h"
#include "prims/build.h"

namespace horngate {
namespace {

/// The plug-ins that drive a library.
std::vector<std::string> drivers() {
  std::vector<std::string> names;
  for (const KnownEngine& e : kKnownEngines)
    if (e.kind == EngineKind::driver) names.emplace_back(e.name);
  return names;
}

constexpr const char* kFile = HORNGATE_TEST_ROOT "/api/engine_support.tsv";

Tensor feed(const Shape& shape, DType dtype = DType::float32) {
  return placeholder({.shape = shape, .dtype = dtype});
}

/// Results that together hold every primitive that can reach an engine.
Tensors elementwise() {
  const Tensor x = feed({2, 3}), y = feed({2, 3});
  const Tensor p = feed({2, 3}, DType::bool_), q = feed({2, 3}, DType::bool_);
  Tensors out;
  const auto add = [&](Prim prim, SmallVec<Tensor, 2> numbers, SmallVec<Tensor, 2> bools) {
    const bool logical = std::string_view(primitive(prim).name).starts_with("logical_");
    out.push_back(make_node(prim, std::move(logical ? bools : numbers), {}));
  };
#define UNARY(name, cost) add(Prim::name, {x}, {p});
#define BINARY(name, cost) add(Prim::name, {x, y}, {p, q});
#define PRIM(name, how, attributes)
#include "ir/prims.def"
  out.push_back(emit(attrs::select{}, {p, x, y}));
  out.push_back(emit(attrs::cast{.dtype = DType::int32}, {x}));
  return out;
}

Tensors along_axes() {
  const Tensor x = feed({2, 3}), y = feed({2, 3}), p = feed({2, 3}, DType::bool_);
  Tensors out;
  out.push_back(emit(attrs::reduce_sum{.axes = {1}}, {x}));
  out.push_back(emit(attrs::reduce_prod{.axes = {1}}, {x}));
  out.push_back(emit(attrs::reduce_max{.axes = {1}}, {x}));
  out.push_back(emit(attrs::reduce_min{.axes = {1}}, {x}));
  out.push_back(emit(attrs::reduce_any{.axes = {1}}, {p}));
  out.push_back(emit(attrs::reduce_all{.axes = {1}}, {p}));
  out.push_back(emit(attrs::argmax{.axis = 1}, {x}));
  out.push_back(emit(attrs::argmin{.axis = 1}, {x}));
  out.push_back(emit(attrs::cumsum{.axis = 1}, {x}));
  out.push_back(emit(attrs::cumprod{.axis = 1}, {x}));
  out.push_back(emit(attrs::recurrence{.axis = 1}, {x, y}));
  out.push_back(emit(attrs::softmax{.axis = 1}, {x}));
  out.push_back(emit(attrs::log_softmax{.axis = 1}, {x}));
  out.push_back(emit(attrs::top_k{.k = 2}, {x}));
  out.push_back(in_top_k(x, feed({2}, DType::int32), 2));
  return out;
}

Tensors shapes() {
  const Tensor x = feed({2, 3}), y = feed({2, 3}), i = feed({4}, DType::int32);
  Tensors out;
  out.push_back(emit(attrs::reshape{.shape = {3, 2}}, {x}));
  out.push_back(emit(attrs::expand_dims{.axes = {1}}, {x}));
  out.push_back(emit(attrs::squeeze{.axes = {1}}, {feed({2, 1, 3})}));
  out.push_back(emit(attrs::broadcast{.shape = {4, 2, 3}}, {x}));
  out.push_back(emit(attrs::transpose{.perm = {1, 0}}, {x}));
  out.push_back(emit(attrs::concat{.axis = 1}, {x, y}));
  out.push_back(prim::slice(x, {0, 1}, {2, 3}));
  out.push_back(emit(attrs::pad{.low = {1, 0}, .high = {0, 2}}, {x}));
  out.push_back(emit(attrs::reverse{.axes = {1}}, {x}));
  out.push_back(emit(attrs::gather{.axis = 0}, {x, i}));
  out.push_back(emit(attrs::scatter_add{.axis = 0, .shape = {5, 3}}, {i, feed({4, 3})}));
  out.push_back(emit(attrs::iota{.shape = {3}}, {}));
  out.push_back(prim::matmul(x, feed({3, 4})));
  out.push_back(batch_dot(feed({2, 3, 4}), feed({2, 4, 5})));
  return out;
}

/// y with its gradients by everything that it is made of.
void add_with_gradients(Tensors& out, const Tensor& y, const Tensors& by) {
  out.push_back(y);
  for (const Tensor& g : gradients(sum(y), by)) out.push_back(g);
}

Tensors networks() {
  Tensors out;
  const Tensor x = feed({2, 8, 8, 3}), k = feed({3, 3, 3, 4});
  add_with_gradients(out, conv2d(x, k, {.padding = Padding::same}), {x, k});
  add_with_gradients(out, conv2d(x, k, {.strides = {2, 2}}), {x, k});
  add_with_gradients(out, conv2d(x, k, {.dilation_rate = {2, 2}}), {x, k});
  const Tensor c = feed({2, 3, 8, 8});
  add_with_gradients(out, conv2d(c, k, {.data_format = DataFormat::channels_first}), {c, k});
  const Tensor d = feed({3, 3, 3, 2});
  add_with_gradients(out, depthwise_conv2d(x, d), {x, d});
  const Tensor x1 = feed({2, 9, 3}), k1 = feed({3, 3, 4});
  add_with_gradients(out, conv1d(x1, k1), {x1, k1});
  const Tensor x3 = feed({2, 5, 5, 5, 3}), k3 = feed({2, 2, 2, 3, 4});
  add_with_gradients(out, conv3d(x3, k3), {x3, k3});
  for (const PoolMode mode : {PoolMode::max, PoolMode::avg}) {
    add_with_gradients(out, pool2d(x, {2, 2}, {.strides = {2, 2}, .pool_mode = mode}), {x});
    add_with_gradients(out, pool3d(x3, {2, 2, 2}, {.pool_mode = mode}), {x3});
  }
  const Tensor gamma = feed({3}), beta = feed({3});
  const Tensor y = normalize_batch_in_training(x, gamma, beta, {0, 1, 2}).normalized;
  add_with_gradients(out, y, {x, gamma, beta});
  return out;
}

Tensors the_rest() {
  Tensors out;
  const Tensor said = feed({2, 6, 4}), length = feed({2, 1}, DType::int32);
  add_with_gradients(out, ctc_batch_cost(feed({2, 3}), said, length, length), {said});
  for (const bool greedy : {true, false}) {
    const CtcDecoded decoded = ctc_decode(said, feed({2}, DType::int32), {.greedy = greedy});
    out.push_back(decoded.decoded[0]);
    out.push_back(decoded.log_probability);
  }
  out.push_back(random_uniform({2, 3}, {.seed = 1}));
  out.push_back(random_normal({2, 3}, {.seed = 1}));
  out.push_back(truncated_normal({2, 3}, {.seed = 1}));
  out.push_back(random_binomial({2, 3}, {.p = 0.5, .seed = 1}));
  const Tensor x = feed({2, 3}), y = feed({2, 3});
  out.push_back(print_tensor(x));
  out.push_back(switch_(feed({}, DType::bool_), [&] { return exp(x); }, [&] { return y * 2.0; }));
  out.push_back(foldl([](const Tensor& acc, const Tensor& e) { return acc * e + 1.0; }, x));
  const Tensor s = placeholder({.shape = {2, 3}, .sparse = true});
  out.push_back(dot(s, feed({3, 4})));
  out.push_back(to_dense(s));
  out.push_back(to_dense(transpose(s)));
  out.push_back(to_dense(concatenate({s, s}, 0)));
  out.push_back(
      to_dense(ctc_label_dense_to_sparse(feed({2, 3}, DType::int32), feed({2}, DType::int32))));
  return out;
}

/// A node by itself: its operands are inputs, but for constants.
Graph alone(const Graph& g, size_t at) {
  Graph one;
  one.values = g.values;
  std::map<ValueId, const GraphNode*> constants;
  for (const GraphNode& n : g.nodes)
    if (n.prim == Prim::constant) constants[n.out[0]] = &n;
  std::set<ValueId> seen;
  for (const ValueId v : g.nodes[at].in) {
    if (!seen.insert(v).second) continue;
    if (constants.count(v))
      one.nodes.push_back(*constants[v]);
    else
      one.inputs.push_back(v);
  }
  one.nodes.push_back(g.nodes[at]);
  for (const ValueId v : g.nodes[at].out) one.outputs.push_back(v);
  return one;
}

/// A size that depends on data is a number by the time that an engine sees it.
bool is_static(const Graph& one) {
  const auto known = [&](ValueId v) { return one.values[v].shape.is_static(); };
  return std::all_of(one.inputs.begin(), one.inputs.end(), known) &&
         std::all_of(one.outputs.begin(), one.outputs.end(), known);
}

/// "direct", "decomposed", "in parts" (decomposed, and some of it on native) or "native".
std::string how(const Graph& one, const Engine& engine) {
  const Partition p = partition(one, engine);
  bool on_engine = false, on_native = false, same = false;
  for (const Part& part : p.parts) (part.on_engine ? on_engine : on_native) = true;
  for (const GraphNode& n : p.graph.nodes) same |= n.prim == one.nodes.back().prim;
  if (!on_native) return same ? "direct" : "decomposed";
  return on_engine ? "in parts" : "native";
}

/// Nothing when the library that it would have to ask is not there.
std::optional<Engine> plug_in(const std::string& name) {
  const std::string path = HORNGATE_TEST_ENGINE_DIR "/libhorngate_engine_" + name + ".so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << path;
  if (!library) return {};
  const auto entry = reinterpret_cast<hg_engine_main_fn>(dlsym(library, "hg_engine_main"));
  Engine e;
  e.api = entry(HG_ABI);
  e.path = path;
  hg_status status{};
  status.size = sizeof status;
  const hg_open how{sizeof(hg_open), 0, 0, nullptr, nullptr};
  if (name == "tensorflow" && e.api->open(&how, &e.self, &status) != 0) return {};
  return e;
}

using Ways = std::map<std::string, std::map<std::string, std::set<std::string>>>;

void add(Ways& ways, const Tensors& outputs, const std::vector<Engine>& engines) {
  // Fed tensors are found by walking back.
  Tensors fed;
  std::set<const Node*> seen;
  Tensors open = outputs;
  while (!open.empty()) {
    const Tensor t = open.back();
    open.pop_back();
    if (!seen.insert(t.node()).second) continue;
    if (t.node()->prim == Prim::placeholder) fed.push_back(t);
    for (const Tensor& operand : t.node()->in) open.push_back(operand);
  }
  const Graph g = prepare(to_function_graph(fed, outputs, {}).graph, true, evaluate);
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const Primitive& p = primitive(g.nodes[i].prim);
    if (p.how == How::core || !is_static(alone(g, i))) continue;
    for (const Engine& e : engines) ways[p.name][e.api->name].insert(how(alone(g, i), e));
  }
}

/// The cells of a table by primitive and engine.
std::map<std::string, std::map<std::string, std::string>> cells(const std::string& text) {
  std::map<std::string, std::map<std::string, std::string>> out;
  std::istringstream lines(text);
  std::string line, cell;
  std::vector<std::string> heads;
  while (std::getline(lines, line)) {
    std::vector<std::string> row;
    for (std::istringstream fields(line); std::getline(fields, cell, '\t');) row.push_back(cell);
    if (heads.empty()) heads = row;
    for (size_t i = 1; i < row.size() && i < heads.size(); ++i) out[row[0]][heads[i]] = row[i];
  }
  return out;
}

std::string table(const Ways& ways, const std::string& before) {
  auto kept = cells(before);
  std::string text = "primitive";
  for (const std::string& engine : drivers()) text += "\t" + engine;
  text += "\n";
#define PRIM(name, how, ...) {#name, How::how},
  const std::pair<const char*, How> all[] = {
#include "ir/prims.def"
  };
  for (const auto& [name, how] : all) {
    // Planning takes stop_gradient out.
    if (how == How::core || std::string_view(name) == "stop_gradient") continue;
    const auto it = ways.find(name);
    if (it == ways.end()) {
      ADD_FAILURE() << name << " is in none of the graphs above";
      continue;
    }
    text += name;
    for (const std::string& engine : drivers()) {
      std::string cell;
      const auto found = it->second.find(engine);
      if (found == it->second.end())
        cell = kept[name][engine];
      else
        for (const char* way : {"direct", "decomposed", "in parts", "native"})
          if (found->second.count(way)) cell += (cell.empty() ? "" : " or ") + std::string(way);
      text += "\t" + cell;
    }
    text += "\n";
  }
  return text;
}

TEST(EngineSupport, TheKindsAreThoseOfTheList) {
  // A new element-wise one runs on native until an engine has it; reductions are all here.
  for (std::string_view name : engines::kElementwise) {
    const std::optional<Prim> prim = find_primitive(name);
    ASSERT_TRUE(prim) << name;
    EXPECT_EQ(primitive(*prim).how, How::elementwise) << name;
  }
  for (int i = 0; i < kPrimCount; ++i) {
    const Primitive& p = primitive(static_cast<Prim>(i));
    EXPECT_EQ(engines::is_one_of(engines::kReductions, p.name), p.how == How::reduction) << p.name;
  }
}

TEST(EngineSupport, TheTableIsCurrent) {
  std::stringstream kept;
  kept << std::ifstream(kFile).rdbuf();
  set_warning_handler([](const std::string&) {});
  std::vector<Engine> engines;
  for (const std::string& name : drivers())
    if (const std::optional<Engine> e = plug_in(name)) engines.push_back(*e);
  EXPECT_GE(engines.size(), 3u);
  Ways ways;
  for (const Tensors& outputs : {elementwise(), along_axes(), shapes(), networks(), the_rest()})
    add(ways, outputs, engines);
  set_warning_handler({});
  const std::string now = table(ways, kept.str());
  if (const char* write = std::getenv("HORNGATE_WRITE_SUPPORT"); write && *write)
    std::ofstream(kFile) << now;
  else
    EXPECT_EQ(kept.str(), now) << "tools/engines_doc.py --record writes it";
}

}  // namespace
}  // namespace horngate
