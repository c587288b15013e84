// Constant folding.
#include "passes/fold_constants.h"

namespace horngate {
namespace {

constexpr size_t kMaxBytes = 4096;

bool foldable(const GraphNode& n) {
  const Primitive& p = primitive(n.prim);
  if (n.in.empty() || !n.bodies.empty() || (p.flags & (kRandom | kEffect))) return false;
  // A broadcast costs nothing where it is read, and the scalar under it can be an immediate
  // operand.
  if (n.prim == Prim::broadcast) return false;
  return p.how == How::elementwise || p.how == How::reduction || n.prim == Prim::transpose ||
         n.prim == Prim::concat || n.prim == Prim::slice;
}

}  // namespace

ValueId fold_constants(Rewriter& r, const GraphNode& node, Evaluate evaluate) {
  if (!foldable(node)) return kNoValue;
  std::vector<Array> values;
  Graph g;
  GraphNode copy = node;
  for (ValueId& v : copy.in) {
    const GraphNode* from = r.maker(v);
    if (!from || from->prim != Prim::constant) return kNoValue;
    values.push_back(from->as<attrs::constant>().value);
    if (values.back().nbytes() > kMaxBytes) return kNoValue;
    v = g.add_value(r.type(v));
    g.inputs.push_back(v);
  }
  const Types types = r.infer(node);
  if (types.size() != 1 || !types[0].shape.is_static()) return kNoValue;
  Array result(types[0].dtype, types[0].shape.dims());
  if (result.nbytes() > kMaxBytes) return kNoValue;
  copy.out = {g.add_value(types[0])};
  g.outputs = {copy.out[0]};
  g.nodes.push_back(std::move(copy));
  return evaluate(g, values, result) ? r.constant(result) : kNoValue;
}

}  // namespace horngate
