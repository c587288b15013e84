// Before the loop: what is the same in each step, and products of sequences.
#include "passes/loop_rewriter.h"

namespace horngate {

void LoopRewriter::hoist() {
  outer_.assign(body_.values.size(), kNoValue);
  stacked_.assign(body_.values.size(), Stacked{});
  for (size_t i = 0; i < in_.n_x; ++i)
    stacked_[body_.inputs[i]] = {n_.in[i], a_.x_axes[i], a_.x_reversed[i] != 0};
  for (size_t i = 0; i < in_.n_cap; ++i)
    outer_[body_.inputs[in_.n_x + in_.n_c + i]] = n_.in[in_.n_x + in_.n_c + i];
  for (const GraphNode& n : body_.nodes)
    if (in_.from[n.out[0]] == 0) move_out(n);
  std::vector<uint8_t> wanted;
  std::vector<Stacked> form = plan_hoisting(wanted);
  if (put_time_first(form, wanted)) form = plan_hoisting(wanted);
  for (size_t i = 0; i < body_.nodes.size(); ++i) {
    if (!wanted[i]) continue;
    const GraphNode& n = body_.nodes[i];
    const Operands o = operands(n, [&](ValueId v) { return stacked_[v].axis; });
    Stacked s = form[n.out[0]];
    s.value = emit(n, o, [&](ValueId v) { return stacked_[v].value; });
    stacked_[n.out[0]] = s;
    if (is_heavy(n.prim)) hoisted_.push_back(n.out[0]);
  }
}

std::vector<LoopRewriter::Stacked> LoopRewriter::plan_hoisting(std::vector<uint8_t>& wanted) const {
  std::vector<Stacked> form = stacked_;
  std::vector<uint8_t> needed(body_.values.size(), 0);
  wanted.assign(body_.nodes.size(), 0);
  for (size_t i = 0; i < body_.nodes.size(); ++i) {
    const GraphNode& n = body_.nodes[i];
    if (n.out.size() != 1 || in_.from[n.out[0]] != LoopBody::kFromSequence) continue;
    bool possible = invariants_are_out(n), first = true, reversed = false;
    for (ValueId v : n.in) {
      if (in_.from[v] == 0) continue;
      possible &= form[v].value != kNoValue && (first || form[v].reversed == reversed);
      reversed = form[v].reversed;
      first = false;
    }
    if (!possible) continue;
    const Operands o = operands(n, [&](ValueId v) { return form[v].axis; });
    const auto axis = stacked_axis(n, o.types(), body_.values[n.out[0]], o.axes());
    if (!axis) continue;
    form[n.out[0]] = {0, *axis, reversed};
    wanted[i] = is_heavy(n.prim);
  }
  for (size_t i = body_.nodes.size(); i-- > 0;) {
    const GraphNode& n = body_.nodes[i];
    if (in_.from[n.out[0]] == LoopBody::kFromSequence && form[n.out[0]].value != kNoValue)
      wanted[i] |= needed[n.out[0]];
    if (wanted[i])
      for (ValueId v : n.in) needed[v] = 1;
  }
  return form;
}

bool LoopRewriter::put_time_first(const std::vector<Stacked>& form,
                                  const std::vector<uint8_t>& wanted) {
  std::vector<uint8_t> read(body_.values.size(), 0);
  size_t made = 0, taken = 0;
  for (size_t i = 0; i < body_.nodes.size(); ++i) {
    if (!wanted[i]) continue;
    const GraphNode& n = body_.nodes[i];
    for (ValueId v : n.in) read[v] = 1;
    const TensorType& out = body_.values[n.out[0]];
    const int64_t axis = form[n.out[0]].axis;
    if (is_heavy(n.prim) && elements_before(out.shape, axis) > 1) made += out.nbytes();
  }
  for (size_t i = 0; i < in_.n_x; ++i)
    if (read[body_.inputs[i]] && a_.x_axes[i] != 0) taken += body_.values[body_.inputs[i]].nbytes();
  if (taken == 0 || made < taken) return false;
  planning_ = false;
  for (size_t i = 0; i < in_.n_x; ++i) {
    Stacked& s = stacked_[body_.inputs[i]];
    if (read[body_.inputs[i]] && s.axis != 0) s = {arranged(s, 0, s.reversed), 0, s.reversed};
  }
  planning_ = true;
  return true;
}

void LoopRewriter::move_out(const GraphNode& n) {
  if (!n.bodies.empty() || n.prim == Prim::gather) return;  // could fail although no step runs
  if (invariants_are_out(n)) r_.copy(body_, n, outer_);
}

}  // namespace horngate
