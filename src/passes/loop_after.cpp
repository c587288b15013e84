// After the loop: products that no later step needs, and sums over the steps.
#include <algorithm>

#include "ir/check.h"
#include "passes/loop_rewriter.h"
#include "passes/slices.h"

namespace horngate {

SmallVec<ValueId, 1> LoopRewriter::results() {
  SmallVec<ValueId, 1> out;
  for (size_t i = 0; i < in_.n_c; ++i) out.push_back(kNoValue);
  for (size_t i = 0; !planning_ && i < in_.kept_carries.size(); ++i)
    out[in_.kept_carries[i]] = kept_results_[i];
  for (size_t i : sums_) {
    const ValueId sum = sum_of(in_.summand[i], 0);
    if (!planning_) out[i] = r_.emit(Prim::add, {n_.in[in_.n_x + i], sum});
  }
  for (size_t i = 0; i < static_cast<size_t>(a_.ys); ++i)
    out.push_back(all_steps(body_.outputs[in_.n_c + i], a_.y_axes[i], a_.y_reversed[i] != 0, 0));
  return out;
}

void LoopRewriter::find_movable() {
  movable_.assign(body_.values.size(), 0);
  for (const GraphNode& n : body_.nodes) {
    const ValueId v = n.out[0];
    if (n.out.size() != 1 || in_.core[v] || in_.from[v] == 0 || !invariants_are_out(n)) continue;
    bool follows = false;
    for (ValueId o : n.in) follows |= movable_[o];
    const bool passes = primitive(n.prim).how == How::elementwise || is_linear_view(n);
    movable_[v] = is_heavy(n.prim) || (passes && follows);
  }
}

ValueId LoopRewriter::sum_of(ValueId f, int depth) {
  const GraphNode& n = *in_.maker(f);
  if (n.prim == Prim::add) {
    const ValueId a = sum_of(n.in[0], depth + 1), b = sum_of(n.in[1], depth + 1);
    return planning_ ? kNoValue : r_.emit(Prim::add, {a, b});
  }
  if (is_linear_view(n)) {
    const ValueId a = sum_of(n.in[0], depth + 1);
    return planning_ ? kNoValue : r_.emit(n.prim, {a}, n.attrs);
  }
  if (const auto part = part_of_larger_sum(n, depth)) return *part;
  return sum_of_operands(n, n.in, depth);
}

std::optional<ValueId> LoopRewriter::part_of_larger_sum(const GraphNode& n, int depth) {
  if (n.prim == Prim::conv_filter_grad) return std::nullopt;
  const ValueId last = n.in[n.in.size() - 1];
  const auto part = in_.parts.find(last);
  if (part == in_.parts.end() || !in_.shares_whole(n)) return std::nullopt;
  // The axis of the result that corresponds to the concat's.
  int64_t axis = part->second.axis;
  const auto count = [](const Ints& v, int64_t below) {
    return std::count_if(v.begin(), v.end(), [&](int64_t i) { return i < below; });
  };
  if (n.prim == Prim::dot_general) {
    const auto& a = n.as<attrs::dot_general>();
    for (const Ints* used : {&a.batch_b, &a.contract_b})
      if (std::find(used->begin(), used->end(), axis) != used->end()) return std::nullopt;
    axis += static_cast<int64_t>(body_.values[n.in[0]].shape.ndim() - a.contract_a.size()) -
            count(a.batch_b, axis) - count(a.contract_b, axis);
  } else {
    const auto& a = n.as<attrs::reduce_sum>();
    if (std::find(a.axes.begin(), a.axes.end(), axis) != a.axes.end()) return std::nullopt;
    if (!a.keepdims) axis -= count(a.axes, axis);
  }
  SmallVec<ValueId, 4> in = n.in;
  in[in.size() - 1] = part->second.whole;
  const ValueId sum = sum_of_operands(n, in, depth);
  if (planning_) return kNoValue;
  const int64_t start = part->second.start,
                size = body_.values[last].shape.dim(static_cast<size_t>(part->second.axis));
  return r_.emit(
      slice_along(r_.type(sum).shape.ndim(), {static_cast<size_t>(axis), start, start + size}),
      {sum});
}

ValueId LoopRewriter::sum_of_operands(const GraphNode& n, const SmallVec<ValueId, 4>& in,
                                      int depth) {
  if (planning_) forms_.emplace(&n, form_of_sum(n, in));
  const Stacked form = forms_.at(&n);
  SmallVec<ValueId, 2> values;
  for (ValueId v : in) values.push_back(all_steps(v, form.axis, form.reversed, depth + 1));
  return planning_ ? kNoValue
                   : emit_sum_over_time(r_, n, form.axis, {values.data(), values.size()});
}

LoopRewriter::Stacked LoopRewriter::form_of_sum(const GraphNode& n,
                                                const SmallVec<ValueId, 4>& in) const {
  std::vector<Stacked> forms;
  for (ValueId v : in) {
    if (stacked_[v].value != kNoValue) {
      forms.push_back(stacked_[v]);
      forms.push_back({stacked_[v].value, 0, stacked_[v].reversed});
    }
    for (const Request& q : requests_)
      if (q.inner == v) forms.push_back({kNoValue, q.axis, q.reversed});
  }
  forms.push_back({kNoValue, 0, false});
  const auto cost = [&](const Stacked& f) {
    if (n.prim == Prim::conv_filter_grad && f.axis > 1) return SIZE_MAX;
    size_t bytes = 0;
    for (ValueId v : in) {
      if (f.axis > static_cast<int64_t>(body_.values[v].shape.ndim())) return SIZE_MAX;
      const size_t size = body_.values[v].nbytes();
      if (const Stacked& s = stacked_[v]; s.value != kNoValue)
        bytes += size * ((s.axis != f.axis) + (s.reversed != f.reversed)) * 2;
      else if (!requested(v, f.axis, f.reversed))
        bytes += size * (f.axis == 0 ? 1 : 2);
    }
    return bytes;
  };
  return *std::min_element(forms.begin(), forms.end(),
                           [&](const Stacked& a, const Stacked& b) { return cost(a) < cost(b); });
}

ValueId LoopRewriter::all_steps(ValueId v, int64_t axis, bool reversed, int depth) {
  if (in_.from[v] != 0 && stacked_[v].value != kNoValue)
    return arranged(stacked_[v], axis, reversed);
  const GraphNode* n = in_.maker(v);
  const std::optional<int64_t> at =
      movable_[v] && depth < kDeepest ? operand_axis(*n, axis) : std::nullopt;
  if (!at) return request(v, axis, reversed);
  const std::tuple key(v, axis, reversed);
  if (const auto known = moved_.find(key); known != moved_.end()) return known->second;
  std::map<ValueId, ValueId> values;
  for (ValueId o : n->in)
    if (in_.from[o] != 0) values[o] = all_steps(o, *at, reversed, depth + 1);
  ValueId made = kNoValue;
  if (!planning_) {
    const Operands o = operands(*n, [&](ValueId) { return *at; });
    made = arranged({emit(*n, o, [&](ValueId x) { return values.at(x); }),
                     *stacked_axis(*n, o.types(), body_.values[v], o.axes()), reversed},
                    axis, reversed);
  }
  moved_.emplace(key, made);
  return made;
}

std::optional<int64_t> LoopRewriter::operand_axis(const GraphNode& n, int64_t wanted) const {
  size_t shallowest = SIZE_MAX;
  for (ValueId v : n.in)
    if (in_.from[v] != 0) shallowest = std::min(shallowest, body_.values[v].shape.ndim());
  // The loop stacks along the first axis for free; then transposing a small result is better than transposing
  // large operands.
  size_t bytes = 0;
  for (ValueId v : n.in)
    if (in_.from[v] != 0 && stacked_[v].value == kNoValue) bytes += body_.values[v].nbytes();
  const bool turn_result = is_heavy(n.prim) && body_.values[n.out[0]].nbytes() <= bytes;
  std::optional<int64_t> any;
  for (int64_t at = 0; at <= static_cast<int64_t>(shallowest); ++at) {
    const Operands o = operands(n, [&](ValueId) { return at; });
    const auto axis = stacked_axis(n, o.types(), body_.values[n.out[0]], o.axes());
    if (!axis) continue;
    if (*axis == wanted || turn_result) return at;
    if (!any) any = at;
  }
  return any;
}

const LoopRewriter::Request* LoopRewriter::requested(ValueId v, int64_t axis, bool reversed) const {
  for (const Request& q : requests_)
    if (q.inner == v && q.axis == axis && q.reversed == reversed) return &q;
  return nullptr;
}

ValueId LoopRewriter::request(ValueId v, int64_t axis, bool reversed) {
  if (const Request* q = requested(v, axis, reversed)) return q->value;
  invariant(planning_, "a loop has a result that nobody asked for");
  requests_.push_back({v, axis, reversed});
  return kNoValue;
}

}  // namespace horngate
