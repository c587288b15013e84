// partition: which parts of a graph an engine runs, and which ones native runs in between. Primitives that the
// engine lacks are decomposed first; what cannot be decomposed runs on native, with one warning per primitive.
#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <set>

#include "ir/abi.h"
#include "ir/check.h"
#include "ir/environment.h"
#include "ir/fork.h"
#include "ir/to_graph.h"
#include "ir/warn.h"
#include "passes/rewriter.h"
#include "plan/plan.h"
#include "prims/build.h"

namespace horngate {
namespace {

/// Whether the engine's flags exclude the node.
bool is_ruled_out(const Graph& g, const GraphNode& n, const Engine& e) {
  const auto any = [&](const auto& is) {
    const auto holds = [&](ValueId v) { return is(g.values[v]); };
    return std::any_of(n.in.begin(), n.in.end(), holds) ||
           std::any_of(n.out.begin(), n.out.end(), holds);
  };
  const auto is_empty = [](const TensorType& t) {
    const auto& dims = t.shape.dims();
    return std::find(dims.begin(), dims.end(), 0) != dims.end();
  };
  return (n.prim == Prim::scan && !e.has(HG_CAP_SCAN)) ||
         (n.prim == Prim::cond && !e.has(HG_CAP_COND)) ||
         (!e.has(HG_CAP_SPARSE) && any([](const TensorType& t) { return t.sparse; })) ||
         (e.has(HG_CAP_NO_F64) &&
          any([](const TensorType& t) { return t.dtype == DType::float64; })) ||
         (e.has(HG_CAP_NO_EMPTY) && any(is_empty));
}

std::vector<uint8_t> supported(const Graph& g, const Engine& e) {
  const CGraph c(g);
  std::vector<uint8_t> out(g.nodes.size(), 0);
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    const GraphNode& n = g.nodes[i];
    out[i] = n.prim == Prim::constant || (!is_ruled_out(g, n, e) && e.supports(c.get(), i));
  }
  return out;
}

/// A node's decomposition as a graph with the node's operands as inputs; empty if it has none for them.
std::optional<Graph> decomposition(const Graph& g, const GraphNode& n) {
  const Primitive& p = primitive(n.prim);
  if (!p.decompose) return std::nullopt;
  std::vector<TensorType> types;
  Tensors in;
  for (ValueId v : n.in) {
    const TensorType& t = types.emplace_back(g.values[v]);
    in.push_back(emit(
        attrs::placeholder{.dtype = t.dtype, .shape = t.shape.dims(), .sparse = t.sparse}, {}));
  }
  const CalledInstead called(n.name.function);
  const Tensors out = p.decompose({in.data(), in.size()}, n.attrs.get());
  if (out.empty()) return std::nullopt;
  return specialise(prepare(to_function_graph(in, out, {}).graph, false, evaluate), types, {})
      .result;
}

/// Tells which nodes of a graph may stay as they are.
using Judge = std::function<std::vector<uint8_t>(const Graph&)>;

std::optional<GraphNode> with_simpler_bodies(const Graph& g, const GraphNode& n, const Judge& judge,
                                             int depth);

constexpr int kDeepest = 16;  // decompositions of decompositions

/// Replaces the nodes that may not stay with their decompositions, if they have one, inside bodies too. Empty if
/// nothing needs replacing.
std::optional<Graph> decompose(const Graph& g, const Judge& judge, int depth = 0) {
  const std::vector<uint8_t> ok = judge(g);
  if (depth == kDeepest || std::find(ok.begin(), ok.end(), 0) == ok.end()) return std::nullopt;
  bool any = false;
  Rewriter r;
  r.reserve(g);
  std::vector<ValueId> now(g.values.size(), kNoValue);
  for (ValueId v : g.inputs) now[v] = r.input(g.values[v]);
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const GraphNode& n = g.nodes[i];
    if (const auto simpler = ok[i] ? std::nullopt : with_simpler_bodies(g, n, judge, depth)) {
      any = true;
      r.copy(g, *simpler, now);
      continue;
    }
    std::optional<Graph> parts;
    if (!ok[i]) parts = decomposition(g, n);
    if (!parts) {
      r.copy(g, n, now);
      continue;
    }
    any = true;
    if (auto deeper = decompose(*parts, judge, depth + 1)) parts = std::move(deeper);
    std::vector<ValueId> inner(parts->values.size(), kNoValue);
    for (size_t k = 0; k < n.in.size(); ++k) inner[parts->inputs[k]] = now[n.in[k]];
    for (const GraphNode& p : parts->nodes) r.copy(*parts, p, inner);
    for (size_t k = 0; k < n.out.size(); ++k) now[n.out[k]] = inner[parts->outputs[k]];
  }
  if (!any) return std::nullopt;
  std::vector<ValueId> outputs;
  for (ValueId v : g.outputs) outputs.push_back(now[v]);
  return remove_dead(r.finish(std::move(outputs)));
}

/// A loop or branch that the engine takes once its bodies are decomposed; otherwise empty, and native gets it
/// unchanged.
std::optional<GraphNode> with_simpler_bodies(const Graph& g, const GraphNode& n, const Judge& judge,
                                             int depth) {
  GraphNode simpler = n;
  bool any = false;
  for (GraphRef& body : simpler.bodies)
    if (auto changed = decompose(*body, judge, depth + 1)) {
      body = std::make_shared<const Graph>(std::move(*changed));
      any = true;
    }
  if (!any) return std::nullopt;
  Graph alone;
  alone.values = g.values;
  alone.nodes.push_back(simpler);
  alone.inputs.assign(n.in.begin(), n.in.end());
  alone.outputs.assign(n.out.begin(), n.out.end());
  if (!judge(alone)[0]) return std::nullopt;
  return simpler;
}

constinit std::mutex told_mutex;
const AtFork at_fork{told_mutex, ForkOrder::last};

void report(const GraphNode& n, const Engine& e) {
  static auto* told = new std::set<std::string>;
  const char* prim = primitive(n.prim).name;
  check<NotImplementedError>(!environment_flag("HORNGATE_STRICT"), text_of("engine ", e.api->name),
                             "cannot run ", prim,
                             " and has no decomposition for it. Engines that can: native.");
  bool is_new;
  {
    std::lock_guard lock(told_mutex);
    is_new = told->insert(text_of(e.api->name, "/", prim)).second;
  }
  if (is_new)
    warn(text_of("engine ", e.api->name, ": cannot run ", prim, "; that part runs on native."));
}

/// Random numbers and lines of print_tensor always come from native, so nobody needs a warning.
bool is_quiet(Prim prim) {
  return (prim >= Prim::random_uniform && prim <= Prim::random_bernoulli) || prim == Prim::print;
}

}  // namespace

bool supports_all(const Graph& graph, const Engine& engine, std::string* which) {
  const std::vector<uint8_t> ok = supported(graph, engine);
  const auto at = std::find(ok.begin(), ok.end(), 0);
  if (at == ok.end()) return true;
  *which = primitive(graph.nodes[static_cast<size_t>(at - ok.begin())].prim).name;
  return false;
}

Graph without_kernels(const Graph& graph) {
  const auto is_simple = [](const Graph& g) {
    std::vector<uint8_t> ok;
    for (const GraphNode& n : g.nodes)
      ok.push_back(primitive(n.prim).how != How::kernel || !n.bodies.empty());
    return ok;
  };
  return decompose(graph, is_simple).value_or(graph);
}

Partition partition(const Graph& whole, const Engine& engine) {
  Graph g = whole;
  const Judge judge = [&engine](const Graph& part) { return supported(part, engine); };
  if (auto simpler = decompose(g, judge)) g = std::move(*simpler);
  const std::vector<uint8_t> ok = judge(g);
  // Nodes in order; each joins the last part unless it must run elsewhere. An engine part after a native part that
  // it does not depend on joins the earlier engine part. A stage is the number of changes of engine before the
  // node.
  std::vector<int> stage(g.values.size(), 0), node_stage(g.nodes.size(), 0);
  int last = 0;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const GraphNode& n = g.nodes[i];
    int s = ok[i] ? 0 : 1;  // even stages are the engine's, odd ones native's
    for (ValueId v : n.in) {
      int at = stage[v];
      if ((at % 2 == 0) != static_cast<bool>(ok[i])) ++at;
      s = std::max(s, at);
    }
    if (n.prim == Prim::constant) s = 0;
    if (!ok[i] && !is_quiet(n.prim)) report(n, engine);
    node_stage[i] = s;
    for (ValueId v : n.out) stage[v] = s;
    last = std::max(last, s);
  }
  std::vector<Part> parts;
  std::vector<uint8_t> is_output(g.values.size(), 0);
  for (ValueId v : g.outputs) is_output[v] = 1;
  for (int s = 0; s <= last; ++s) {
    Part part;
    part.on_engine = s % 2 == 0;
    std::vector<uint8_t> made(g.values.size(), 0), needed(g.values.size(), 0),
        used_later(g.values.size(), 0);
    std::vector<const GraphNode*> constants(g.values.size(), nullptr);
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      const GraphNode& n = g.nodes[i];
      if (n.prim == Prim::constant) constants[n.out[0]] = &n;
      if (node_stage[i] == s && n.prim != Prim::constant)
        for (ValueId v : n.out) made[v] = 1;
      if (node_stage[i] != s && n.prim != Prim::constant)
        for (ValueId v : n.in) used_later[v] = 1;
    }
    Graph& p = part.graph;
    p.values = g.values;
    std::vector<uint8_t> present(g.values.size(), 0);
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      const GraphNode& n = g.nodes[i];
      if (node_stage[i] != s || n.prim == Prim::constant) continue;
      for (ValueId v : n.in) {
        if (present[v] || made[v]) continue;
        present[v] = 1;
        if (constants[v])
          p.nodes.push_back(*constants[v]);
        else
          part.in.push_back(v);
      }
      p.nodes.push_back(n);
    }
    for (ValueId v = 0; v < g.values.size(); ++v)
      if (made[v] && (used_later[v] || is_output[v])) part.out.push_back(v);
    if (s == last)  // outputs that no node makes: inputs and constants
      for (ValueId v : g.outputs)
        if (constants[v] && std::find(part.out.begin(), part.out.end(), v) == part.out.end()) {
          if (!present[v]) p.nodes.push_back(*constants[v]);
          present[v] = 1;
          part.out.push_back(v);
        }
    if (part.out.empty()) continue;
    p.inputs = part.in;
    p.outputs = part.out;
    parts.push_back(std::move(part));
  }
  return {std::move(g), std::move(parts)};
}

}  // namespace horngate
