// Dead code, unused parts of scans and conds, and cutting a graph in two.
#include <algorithm>

#include "ir/check.h"
#include "ir/interrupt.h"
#include "ir/primitive.h"
#include "passes/passes.h"

namespace horngate {
namespace {

/// The graph reduced to the marked nodes, with values renumbered; all inputs stay. Moves instead of copying, as
/// graphs may have millions of nodes.
Graph keep_nodes(Graph g, const std::vector<uint8_t>& keep) {
  Graph out;
  out.values.reserve(g.values.size());
  std::vector<ValueId> now(g.values.size(), kNoValue);
  const auto move_value = [&](ValueId v) { now[v] = out.add_value(g.values[v]); };
  for (ValueId v : g.inputs) {
    move_value(v);
    out.inputs.push_back(now[v]);
  }
  size_t kept = 0;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    stop_if_asked();
    if (!keep[i]) continue;
    GraphNode& n = g.nodes[i];
    for (ValueId& v : n.in) v = now[v];
    for (ValueId& v : n.out) {
      move_value(v);
      v = now[v];
    }
    if (kept != i) g.nodes[kept] = std::move(n);
    ++kept;
  }
  g.nodes.resize(kept);
  out.nodes = std::move(g.nodes);
  for (ValueId v : g.outputs) out.outputs.push_back(now[v]);
  return out;
}

std::vector<uint8_t> needed_nodes(const Graph& g, std::vector<uint8_t>& used) {
  std::vector<uint8_t> keep(g.nodes.size(), 0);
  for (size_t i = g.nodes.size(); i-- > 0;) {
    stop_if_asked();
    const GraphNode& n = g.nodes[i];
    bool needed = primitive(n.prim).flags & kEffect;
    for (ValueId v : n.out) needed |= used[v];
    keep[i] = needed;
    if (needed)
      for (ValueId v : n.in) used[v] = 1;
  }
  return keep;
}

/// Which inputs the live outputs of a body depend on.
std::vector<uint8_t> inputs_reached(const Graph& body, const std::vector<uint8_t>& output_live) {
  std::vector<uint8_t> used(body.values.size(), 0);
  for (size_t i = 0; i < body.outputs.size(); ++i)
    if (output_live[i]) used[body.outputs[i]] = 1;
  needed_nodes(body, used);
  std::vector<uint8_t> reached;
  for (ValueId v : body.inputs) reached.push_back(used[v]);
  return reached;
}

template <class T>
T filtered(const T& items, const std::vector<uint8_t>& live, size_t first) {
  T out;
  for (size_t i = 0; i < items.size(); ++i)
    if (live[first + i]) out.push_back(items[i]);
  return out;
}

/// Drops the ys, carries and captures of a scan that nothing needs. `used` marks the values that are.
void prune_scan(GraphNode& n, const std::vector<uint8_t>& used) {
  attrs::scan a = n.as<attrs::scan>();
  const Graph& body = *n.bodies[0];
  const auto n_x = static_cast<size_t>(a.xs), n_c = static_cast<size_t>(a.carries),
             n_out = n.out.size();
  const size_t n_cap = n.in.size() - n_x - n_c;
  std::vector<uint8_t> live(n_out, 0);
  for (size_t i = 0; i < n_out; ++i) live[i] = used[n.out[i]];
  // A carry lives if its final value is used or something that lives reads it.
  std::vector<uint8_t> reached;
  for (bool changed = true; changed;) {
    changed = false;
    reached = inputs_reached(body, live);
    for (size_t i = 0; i < n_c; ++i)
      if (reached[n_x + i] && !live[i]) live[i] = changed = true;
  }
  std::vector<uint8_t> keep_input(n_x + n_c + n_cap + 1, 1);
  size_t kept_x = 0;
  for (size_t i = 0; i < n_x; ++i) kept_x += keep_input[i] = reached[i];
  if (kept_x == 0 && n_x > 0 && a.length < 0) keep_input[0] = 1;  // it tells how long the loop is
  for (size_t i = 0; i < n_c; ++i) keep_input[n_x + i] = live[i];
  for (size_t i = 0; i < n_cap; ++i) keep_input[n_x + n_c + i] = reached[n_x + n_c + i];

  Graph slim = body;
  slim.inputs = filtered(body.inputs, keep_input, 0);
  slim.outputs = filtered(body.outputs, live, 0);
  // Nothing that is left reads the inputs that are gone.
  std::vector<uint8_t> body_used(body.values.size(), 0);
  for (ValueId v : slim.outputs) body_used[v] = 1;
  const std::vector<uint8_t> keep = needed_nodes(slim, body_used);
  n.bodies[0] = std::make_shared<const Graph>(keep_nodes(std::move(slim), keep));
  n.in = filtered(n.in, keep_input, 0);
  n.out = filtered(n.out, live, 0);
  a.x_axes = filtered(a.x_axes, keep_input, 0);
  a.x_reversed = filtered(a.x_reversed, keep_input, 0);
  a.xs = static_cast<int64_t>(a.x_axes.size());
  a.y_axes = filtered(a.y_axes, live, n_c);
  a.y_reversed = filtered(a.y_reversed, live, n_c);
  a.ys = static_cast<int64_t>(a.y_axes.size());
  a.carries = static_cast<int64_t>(n.out.size()) - a.ys;
  n.attrs = AttrRef(new AttrsOf<attrs::scan>(std::move(a)));
}

/// Drops the results of a cond that nothing needs, and what its branches then no longer read.
void prune_cond(GraphNode& n, const std::vector<uint8_t>& used) {
  std::vector<uint8_t> live;
  for (ValueId v : n.out) live.push_back(used[v]);
  if (std::find(live.begin(), live.end(), 0) == live.end()) return;
  SmallVec<ValueId, 4> in{n.in[0]};
  size_t first = 1;
  for (GraphRef& b : n.bodies) {
    Graph slim = *b;
    slim.outputs = filtered(b->outputs, live, 0);
    std::vector<uint8_t> reached(b->values.size(), 0);
    for (ValueId v : slim.outputs) reached[v] = 1;
    const std::vector<uint8_t> keep = needed_nodes(slim, reached);
    slim.inputs.clear();
    for (size_t i = 0; i < b->inputs.size(); ++i) {
      if (!reached[b->inputs[i]]) continue;
      slim.inputs.push_back(b->inputs[i]);
      in.push_back(n.in[first + i]);
    }
    first += b->inputs.size();
    b = std::make_shared<const Graph>(keep_nodes(std::move(slim), keep));
  }
  n.in = std::move(in);
  n.out = filtered(n.out, live, 0);
}

}  // namespace

Graph remove_dead(Graph g) {
  std::vector<uint8_t> used(g.values.size(), 0);
  for (ValueId v : g.outputs) used[v] = 1;
  std::vector<uint8_t> keep(g.nodes.size(), 0);
  for (size_t i = g.nodes.size(); i-- > 0;) {
    GraphNode& n = g.nodes[i];
    bool needed = primitive(n.prim).flags & kEffect;
    for (ValueId v : n.out) needed |= used[v];
    keep[i] = needed;
    if (!needed) continue;
    if (n.prim == Prim::scan) prune_scan(n, used);
    if (n.prim == Prim::cond) prune_cond(n, used);
    for (ValueId v : n.in) used[v] = 1;
  }
  return keep_nodes(std::move(g), keep);
}

Graph extract(Graph g, const std::vector<ValueId>& wanted) {
  g.outputs.assign(wanted.begin(), wanted.end());
  // Effects belong to the part that makes the outputs, not to every piece cut out of the graph.
  std::vector<uint8_t> used(g.values.size(), 0), keep(g.nodes.size(), 0);
  for (ValueId v : wanted) used[v] = 1;
  for (size_t i = g.nodes.size(); i-- > 0;) {
    for (ValueId v : g.nodes[i].out) keep[i] |= used[v];
    if (keep[i])
      for (ValueId v : g.nodes[i].in) used[v] = 1;
  }
  return keep_nodes(std::move(g), keep);
}

Split split(const Graph& graph, const std::vector<ValueId>& needed) {
  std::vector<uint8_t> used(graph.values.size(), 0), in_first(graph.nodes.size(), 0),
      made(graph.values.size(), 0);
  for (ValueId v : needed) used[v] = 1;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    for (ValueId v : graph.nodes[i].out) in_first[i] |= used[v];
    if (!in_first[i]) continue;
    for (ValueId v : graph.nodes[i].in) used[v] = 1;
    for (ValueId v : graph.nodes[i].out) made[v] = 1;
  }
  // Constants are cheap to duplicate, and the second part can fold them.
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].prim == Prim::constant) made[graph.nodes[i].out[0]] = 0;
  std::vector<ValueId> crossing = needed;
  std::vector<uint8_t> listed(graph.values.size(), 0);
  for (ValueId v : needed) listed[v] = 1;
  const auto cross = [&](ValueId v) {
    if (made[v] && !listed[v]) {
      listed[v] = 1;
      crossing.push_back(v);
    }
  };
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (!in_first[i])
      for (ValueId v : graph.nodes[i].in) cross(v);
  for (ValueId v : graph.outputs) cross(v);

  Split s;
  s.first = extract(graph, crossing);
  Graph rest = graph;
  std::vector<uint8_t> keep(graph.nodes.size(), 1);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (in_first[i] && graph.nodes[i].prim != Prim::constant) keep[i] = 0;
  for (ValueId v : crossing) rest.inputs.push_back(v);
  s.second = remove_dead(keep_nodes(std::move(rest), keep));
  return s;
}

}  // namespace horngate
