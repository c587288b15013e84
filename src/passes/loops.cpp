// Loops: what a scan need not do step by step is done before or after it, for all steps at once.
//   - what is the same in each step is computed once, before;
//   - a product that depends only on sequences (x_t W) becomes one product over all steps, before (hoisting);
//   - a product that no later step needs (dx_t = dz_t W') becomes one product, after; so does a sum of
//     products over the steps (dR = sum of h_t' dz_t, sinking). The loop then stacks the operands (dz_t).
#include <algorithm>

#include "ir/switches.h"
#include "passes/checkpoint.h"
#include "passes/loop_rewriter.h"
#include "passes/passes.h"

namespace horngate {
namespace {

/// Where each operand begins in the matrix it is a slice of: joined in that order, slices give the matrix back.
std::vector<int64_t> first_columns(const Rewriter& r, const GraphNode& loop) {
  std::vector<int64_t> order;
  for (ValueId v : loop.in) {
    const GraphNode* from = r.maker(v);
    order.push_back(0);
    if (from && from->prim == Prim::slice)
      for (int64_t start : from->as<attrs::slice>().starts) order.back() += start;
  }
  return order;
}

bool has_bodies(const Graph& g) {
  return std::any_of(g.nodes.begin(), g.nodes.end(),
                     [](const GraphNode& n) { return !n.bodies.empty(); });
}

}  // namespace

Graph improve_loops(Graph graph) {
  if (!has_bodies(graph)) return graph;
  std::set<const Graph*> done;
  graph = cut_long_tapes(std::move(graph), done);
  Rewriter r;
  std::vector<ValueId> now(graph.values.size(), kNoValue);
  for (ValueId v : graph.inputs) now[v] = r.input(graph.values[v]);
  for (const GraphNode& n : graph.nodes) {
    if (n.prim == Prim::scan && done.count(n.bodies[0].get())) {
      r.copy(graph, n, now);
      continue;
    }
    GraphNode copy{n.prim, {}, {}, n.attrs, {}, n.name};
    for (ValueId v : n.in) copy.in.push_back(now[v]);
    for (const GraphRef& b : n.bodies) {
      Graph body = improve_loops(*b);
      if (is_on(Pass::push_slices)) body = push_slices(std::move(body));
      if (n.prim == Prim::scan && is_on(Pass::merge_products))
        body = merge_products(std::move(body), n.as<attrs::scan>(), first_columns(r, copy));
      copy.bodies.push_back(std::make_shared<const Graph>(std::move(body)));
    }
    Types types;
    for (ValueId v : n.out) types.push_back(graph.values[v]);
    const SmallVec<ValueId, 1> out = n.prim == Prim::scan && is_on(Pass::loops)
                                         ? LoopRewriter(r, copy, types).run()
                                         : r.emit(std::move(copy), types);
    for (size_t i = 0; i < n.out.size(); ++i) now[n.out[i]] = out[i];
  }
  for (ValueId v : graph.outputs) r.graph.outputs.push_back(now[v]);
  r.graph.in_place = graph.in_place;
  if (is_on(Pass::tapes)) r.graph = shorten_tapes(std::move(r.graph));
  return remove_dead(std::move(r.graph));
}

}  // namespace horngate
