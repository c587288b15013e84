// prepare: what can be done once for all shapes.
#include "ir/check.h"
#include "passes/fold_constants.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace horngate {

bool uses_phase(const Graph& graph) {
  for (const GraphNode& n : graph.nodes) {
    if (n.prim == Prim::phase || n.prim == Prim::learning_phase) return true;
    for (const GraphRef& b : n.bodies)
      if (uses_phase(*b)) return true;
  }
  return false;
}

namespace {

Graph prepare_one(const Graph& graph, bool training, Evaluate evaluate) {
  Rewriter r;
  r.reserve(graph);
  std::vector<ValueId> now(graph.values.size(), kNoValue);
  for (ValueId v : graph.inputs) now[v] = r.input(graph.values[v]);
  for (const GraphNode& n : graph.nodes) {
    if (n.prim == Prim::phase) {
      now[n.out[0]] = now[n.in[training ? 0 : 1]];
      continue;
    }
    if (n.prim == Prim::learning_phase) {
      now[n.out[0]] = r.constant(Array(training));
      continue;
    }
    GraphNode copy{n.prim, {}, {}, n.attrs, {}, n.name};
    for (ValueId v : n.in) copy.in.push_back(now[v]);
    for (const GraphRef& b : n.bodies)
      copy.bodies.push_back(std::make_shared<const Graph>(prepare_one(*b, training, evaluate)));
    if (ValueId v = fold_constants(r, copy, evaluate); v != kNoValue) {
      now[n.out[0]] = v;
      continue;
    }
    Types types;
    for (ValueId v : n.out) types.push_back(graph.values[v]);
    const SmallVec<ValueId, 1> out = r.emit(std::move(copy), types);
    for (size_t i = 0; i < n.out.size(); ++i) now[n.out[i]] = out[i];
  }
  std::vector<ValueId> outputs;
  for (ValueId v : graph.outputs) outputs.push_back(now[v]);
  return remove_dead(r.finish(std::move(outputs)));
}

}  // namespace

Graph prepare(const Graph& graph, bool training, Evaluate evaluate) {
  return print_once(prepare_one(graph, training, evaluate));
}

}  // namespace horngate
