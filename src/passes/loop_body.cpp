#include "passes/loop_body.h"

#include "passes/stacking.h"

namespace horngate {

bool is_heavy(Prim p) { return p == Prim::dot_general || p == Prim::conv; }

bool is_linear_view(const GraphNode& n) {
  switch (n.prim) {
    case Prim::reshape:
    case Prim::expand_dims:
    case Prim::squeeze:
    case Prim::transpose:
    case Prim::neg: return true;
    case Prim::pad: return n.as<attrs::pad>().value == 0;
    default: return false;
  }
}

LoopBody::LoopBody(const GraphNode& scan) : graph(*scan.bodies[0]) {
  n_x = static_cast<size_t>(scan.as<attrs::scan>().xs);
  n_c = static_cast<size_t>(scan.as<attrs::scan>().carries);
  n_cap = scan.in.size() - n_x - n_c;
  maker_.assign(graph.values.size(), -1);
  uses_.assign(graph.values.size(), 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId v : graph.nodes[i].out) maker_[v] = static_cast<int32_t>(i);
    for (ValueId v : graph.nodes[i].in) ++uses_[v];
  }
  for (ValueId v : graph.outputs) ++uses_[v];
  classify();
  find_parts();
  find_sums();
  find_core();
}

void LoopBody::classify() {
  from.assign(graph.values.size(), 0);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const bool capture = i >= n_x + n_c && i < n_x + n_c + n_cap;
    from[graph.inputs[i]] = i < n_x ? kFromSequence : capture ? 0 : kFromLoop;
  }
  for (const GraphNode& n : graph.nodes) {
    uint8_t all = primitive(n.prim).flags & kEffect ? kFromLoop : 0;
    for (ValueId v : n.in) all |= from[v];
    for (ValueId v : n.out) from[v] = all;
  }
}

void LoopBody::find_parts() {
  for (const GraphNode& n : graph.nodes) {
    if (n.prim != Prim::concat || from[n.out[0]] == 0) continue;
    const int64_t axis = n.as<attrs::concat>().axis;
    int64_t start = 0;
    for (ValueId v : n.in) {
      parts.emplace(v, Part{n.out[0], axis, start});
      start += graph.values[v].shape.dim(static_cast<size_t>(axis));
    }
  }
}

bool LoopBody::shares_whole(const GraphNode& n) const {
  if (n.prim != Prim::dot_general) return true;
  const auto& whole = parts.at(n.in[1]);
  int64_t width = 0;
  for (const GraphNode& other : graph.nodes) {
    if (other.prim != Prim::dot_general || other.in[0] != n.in[0]) continue;
    if (const auto part = parts.find(other.in[1]);
        part != parts.end() && part->second.whole == whole.whole)
      width += graph.values[other.in[1]].shape.dim(static_cast<size_t>(whole.axis));
  }
  return 2 * width > graph.values[whole.whole].shape.dim(static_cast<size_t>(whole.axis));
}

/// Carries that only accumulate a sum: c' = c + f(...), where f can be summed after the loop.
void LoopBody::find_sums() {
  summand.assign(n_c, kNoValue);
  for (size_t i = 0; i < n_c; ++i) {
    const ValueId carry = graph.inputs[n_x + i];
    const GraphNode* add = maker(graph.outputs[i]);
    if (!add || add->prim != Prim::add || uses_[carry] != 1 || uses_[add->out[0]] != 1) continue;
    if ((add->in[0] == carry) == (add->in[1] == carry)) continue;
    const ValueId f = add->in[add->in[0] == carry ? 1 : 0];
    if (graph.values[f] == graph.values[carry] && can_sum(f)) summand[i] = f;
  }
  for (size_t i = 0; i < n_c; ++i)
    if (summand[i] == kNoValue) kept_carries.push_back(i);
}

bool LoopBody::can_sum(ValueId f) const {
  std::vector<ValueId> open{f};
  for (int budget = 64; !open.empty(); --budget) {
    const GraphNode* n = maker(open.back());
    open.pop_back();
    if (!n || budget == 0) return false;
    if (n->prim == Prim::add && graph.values[n->in[0]] == graph.values[n->in[1]]) {
      open.push_back(n->in[0]);
      open.push_back(n->in[1]);
    } else if (is_linear_view(*n)) {
      open.push_back(n->in[0]);
    } else {
      if (!sums_over_time(*n)) return false;
      // An operand that is the same in all steps would need another form, which has not come up in
      // practice.
      for (ValueId v : n->in)
        if (from[v] == 0) return false;
    }
  }
  return true;
}

/// What the next step needs stays in the loop.
void LoopBody::find_core() {
  core.assign(graph.values.size(), 0);
  for (size_t i : kept_carries) core[graph.outputs[i]] = 1;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const GraphNode& n = graph.nodes[i];
    bool needed = primitive(n.prim).flags & kEffect;
    for (ValueId v : n.out) needed |= core[v];
    if (needed)
      for (ValueId v : n.in) core[v] = 1;
  }
}

}  // namespace horngate
