// Prints of what is computed a second time.
#include <unordered_set>

#include "passes/passes.h"
#include "passes/rewriter.h"

namespace horngate {

Graph without_prints(const Graph& from, const DropPrint& drop) {
  Rewriter r;
  std::vector<ValueId> now(from.values.size(), kNoValue);
  for (ValueId v : from.inputs) now[v] = r.input(from.values[v]);
  for (const GraphNode& n : from.nodes) {
    if (n.prim == Prim::print && drop(n)) {
      now[n.out[0]] = now[n.in[0]];
      continue;
    }
    GraphNode copy = n;
    for (GraphRef& b : copy.bodies) b = std::make_shared<const Graph>(without_prints(*b, drop));
    r.copy(from, copy, now);
  }
  std::vector<ValueId> outputs;
  for (ValueId v : from.outputs) outputs.push_back(now[v]);
  return remove_dead(r.finish(std::move(outputs)));
}

namespace {

/// Prints are told apart by their attributes, which copies of a node share.
using Seen = std::unordered_set<const Attrs*>;

bool repeats_prints(const Graph& graph, Seen& seen) {
  for (const GraphNode& n : graph.nodes) {
    if (n.prim == Prim::print && !seen.insert(n.attrs.get()).second) return true;
    for (const GraphRef& b : n.bodies)
      if (repeats_prints(*b, seen)) return true;
  }
  return false;
}

}  // namespace

Graph print_once(Graph graph) {
  Seen seen;
  if (!repeats_prints(graph, seen)) return graph;
  seen.clear();
  return without_prints(graph,
                        [&seen](const GraphNode& n) { return !seen.insert(n.attrs.get()).second; });
}

}  // namespace horngate
