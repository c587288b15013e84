// The order of the work on one scan, and the loop that is left.
#include "passes/loop_rewriter.h"

#include <algorithm>

#include "passes/passes.h"

namespace horngate {

SmallVec<ValueId, 1> LoopRewriter::run() {
  hoist();
  find_movable();
  for (size_t i = 0; i < in_.n_c; ++i)
    if (in_.summand[i] != kNoValue) sums_.push_back(i);
  // Large products first choose how their operands are stacked; sums of single values then use what
  // is there.
  std::stable_sort(sums_.begin(), sums_.end(),
                   [&](size_t a, size_t b) { return types_[a].nbytes() > types_[b].nbytes(); });
  planning_ = true;  // find out what the results need from the loop
  results();
  const SmallVec<ValueId, 1> loop = emit_loop();
  for (size_t i = 0; i < requests_.size(); ++i)
    requests_[i].value = loop[in_.kept_carries.size() + i];
  kept_results_.assign(loop.begin(), loop.begin() + static_cast<int64_t>(in_.kept_carries.size()));
  planning_ = false;
  moved_.clear();
  return results();
}

SmallVec<ValueId, 1> LoopRewriter::emit_loop() {
  Rewriter body;
  std::vector<ValueId> now(body_.values.size(), kNoValue);
  GraphNode loop{Prim::scan, {}, {}, {}, {}, n_.name};
  attrs::scan a;
  a.length = a_.length;
  const auto take = [&](ValueId inner, ValueId operand) {
    now[inner] = body.input(body_.values[inner]);
    loop.in.push_back(operand);
  };
  const auto add_sequence = [&](ValueId inner, const Stacked& s) {
    take(inner, s.value);
    a.x_axes.push_back(s.axis);
    a.x_reversed.push_back(s.reversed);
  };
  for (size_t i = 0; i < in_.n_x; ++i) add_sequence(body_.inputs[i], stacked_[body_.inputs[i]]);
  for (ValueId v : hoisted_) add_sequence(v, stacked_[v]);
  for (size_t i : in_.kept_carries) take(body_.inputs[in_.n_x + i], n_.in[in_.n_x + i]);
  for (size_t i = 0; i < in_.n_cap; ++i)
    take(body_.inputs[in_.n_x + in_.n_c + i], n_.in[in_.n_x + in_.n_c + i]);
  std::vector<uint8_t> read(body_.values.size(), 0);  // by what stays in the loop
  for (const GraphNode& n : body_.nodes)
    if (outer_[n.out[0]] == kNoValue)
      for (ValueId v : n.in) read[v] = 1;
  for (const Request& q : requests_) read[q.inner] = 1;
  for (size_t i : in_.kept_carries) read[body_.outputs[i]] = 1;
  for (const GraphNode& n : body_.nodes)
    if (in_.from[n.out[0]] == 0 && n.prim != Prim::constant)
      for (ValueId v : n.out)
        if (outer_[v] != kNoValue && read[v]) take(v, outer_[v]);
  now[body_.inputs.back()] = body.input(body_.values[body_.inputs.back()]);
  for (const GraphNode& n : body_.nodes) {
    if (now[n.out[0]] != kNoValue) continue;
    const bool possible =
        std::all_of(n.in.begin(), n.in.end(), [&](ValueId v) { return now[v] != kNoValue; });
    if (possible) body.copy(body_, n, now);  // else it reads a sum known only after the loop
  }
  Types types;
  for (size_t i : in_.kept_carries) {
    body.graph.outputs.push_back(now[body_.outputs[i]]);
    types.push_back(types_[i]);
  }
  for (const Request& q : requests_) {
    body.graph.outputs.push_back(now[q.inner]);
    TensorType t = body_.values[q.inner];
    t.shape.dims().insert(t.shape.dims().begin() + q.axis, a.length);
    types.push_back(t);
    a.y_axes.push_back(q.axis);
    a.y_reversed.push_back(q.reversed);
  }
  a.xs = static_cast<int64_t>(a.x_axes.size());
  a.carries = static_cast<int64_t>(in_.kept_carries.size());
  a.ys = static_cast<int64_t>(requests_.size());
  if (types.empty()) return {};
  loop.attrs = AttrRef(new AttrsOf<attrs::scan>(std::move(a)));
  loop.bodies.push_back(std::make_shared<const Graph>(remove_dead(std::move(body.graph))));
  return r_.emit(std::move(loop), types);
}

bool LoopRewriter::invariants_are_out(const GraphNode& n) const {
  for (ValueId v : n.in)
    if (in_.from[v] == 0 && outer_[v] == kNoValue) return false;
  return true;
}

ValueId LoopRewriter::arranged(const Stacked& s, int64_t axis, bool reversed) {
  if (planning_) return kNoValue;
  ValueId v = s.value;
  if (s.axis != axis) {
    const auto rank = static_cast<int64_t>(r_.type(v).shape.ndim());
    Ints perm;
    for (int64_t i = 0; i < rank; ++i)
      if (i != s.axis) perm.push_back(i);
    perm.insert(perm.begin() + axis, s.axis);
    v = r_.emit(attrs::transpose{.perm = perm}, {v});
  }
  if (s.reversed != reversed) v = r_.emit(attrs::reverse{.axes = {axis}}, {v});
  return v;
}

}  // namespace horngate
