// Loops: what a scan need not do step by step is done before or after it, for all steps at once.
//   - what is the same in each step is computed once, before;
//   - a product that depends on sequences only (x_t W) becomes one product over all steps, before (hoisting);
//   - a product that no later step needs (dx_t = dz_t W') becomes one, after; so does a sum of products over the
//     steps (dR = sum of h_t' dz_t, sinking). The loop then hands out the operands (dz_t).
#include <algorithm>
#include <map>
#include <tuple>

#include "ir/check.h"
#include "passes/checkpoint.h"
#include "passes/loop_body.h"
#include "passes/passes.h"
#include "passes/slices.h"
#include "passes/stacking.h"

namespace horngate {
namespace {

class LoopRewriter {
 public:
  /// `n` has operands in r; `types` are those of its results.
  LoopRewriter(Rewriter& r, const GraphNode& n, const Types& types)
      : r_(r), n_(n), types_(types), a_(n.as<attrs::scan>()), body_(*n.bodies[0]), in_(n) {}

  SmallVec<ValueId, 1> run() {
    hoist();
    find_movable();
    for (size_t i = 0; i < in_.n_c; ++i)
      if (in_.summand[i] != kNoValue) sums_.push_back(i);
    // Products choose how their operands are stacked; sums of single values then take what is there.
    std::stable_sort(sums_.begin(), sums_.end(),
                     [&](size_t a, size_t b) { return types_[a].nbytes() > types_[b].nbytes(); });
    planning_ = true;  // what the results need from the loop
    results();
    const SmallVec<ValueId, 1> loop = emit_loop();
    for (size_t i = 0; i < requests_.size(); ++i)
      requests_[i].value = loop[in_.kept_carries.size() + i];
    kept_results_.assign(loop.begin(),
                         loop.begin() + static_cast<int64_t>(in_.kept_carries.size()));
    planning_ = false;
    moved_.clear();
    return results();
  }

 private:
  /// A value for all steps at once, in the outer graph.
  struct Stacked {
    ValueId value = kNoValue;
    int64_t axis = 0;
    bool reversed = false;  // step t is at length - 1 - t
  };
  /// A value of the body that the loop stacks.
  struct Request {
    ValueId inner;
    int64_t axis;
    bool reversed;
    ValueId value = kNoValue;
  };
  static constexpr int kDeepest = 16;  // of products that follow each other behind the loop

  /// Emits before the loop: what is the same in each step, and products of sequences with all that they need.
  void hoist() {
    outer_.assign(body_.values.size(), kNoValue);
    stacked_.assign(body_.values.size(), Stacked{});
    for (size_t i = 0; i < in_.n_x; ++i)
      stacked_[body_.inputs[i]] = {n_.in[i], a_.x_axes[i], a_.x_reversed[i] != 0};
    for (size_t i = 0; i < in_.n_cap; ++i)
      outer_[body_.inputs[in_.n_x + in_.n_c + i]] = n_.in[in_.n_x + in_.n_c + i];
    std::vector<uint8_t> wanted;
    std::vector<Stacked> form = plan_hoisting(wanted);
    if (put_time_first(form, wanted)) form = plan_hoisting(wanted);
    for (size_t i = 0; i < body_.nodes.size(); ++i) {
      const GraphNode& n = body_.nodes[i];
      if (in_.from[n.out[0]] == 0) {
        move_out(n);
      } else if (wanted[i]) {
        const Operands o = operands(n, [&](ValueId v) { return stacked_[v].axis; });
        Stacked s = form[n.out[0]];
        s.value = emit(n, o, [&](ValueId v) { return stacked_[v].value; });
        stacked_[n.out[0]] = s;
        if (is_heavy(n.prim)) hoisted_.push_back(n.out[0]);
      }
    }
  }

  /// Which nodes of sequences have a stacked form, and where its time axis is; wanted, per node: it is computed so.
  std::vector<Stacked> plan_hoisting(std::vector<uint8_t>& wanted) const {
    std::vector<Stacked> form = stacked_;
    std::vector<uint8_t> needed(body_.values.size(), 0);
    wanted.assign(body_.nodes.size(), 0);
    for (size_t i = 0; i < body_.nodes.size(); ++i) {
      const GraphNode& n = body_.nodes[i];
      if (n.out.size() != 1 || in_.from[n.out[0]] != LoopBody::kFromSequence) continue;
      bool possible = true, first = true, reversed = false;
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

  /// A loop reads slices along the first axis in place. Where a product makes more than it reads, its sequences
  /// are turned so that its result lies so.
  bool put_time_first(const std::vector<Stacked>& form, const std::vector<uint8_t>& wanted) {
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
      if (read[body_.inputs[i]] && a_.x_axes[i] != 0)
        taken += body_.values[body_.inputs[i]].nbytes();
    if (taken == 0 || made < taken) return false;
    planning_ = false;
    for (size_t i = 0; i < in_.n_x; ++i) {
      Stacked& s = stacked_[body_.inputs[i]];
      if (read[body_.inputs[i]] && s.axis != 0) s = {arranged(s, 0, s.reversed), 0, s.reversed};
    }
    planning_ = true;
    return true;
  }

  /// The same in each step: computed once. Constants stay in the body too, where they cost nothing.
  void move_out(const GraphNode& n) {
    if (!n.bodies.empty() || n.prim == Prim::gather) return;  // may fail where no step runs
    if (invariants_are_out(n)) r_.copy(body_, n, outer_);
  }

  struct Operands {
    SmallVec<TensorType, 4> type;
    SmallVec<int64_t, 4> axis;
    std::span<const TensorType> types() const { return {type.data(), type.size()}; }
    std::span<const int64_t> axes() const { return {axis.data(), axis.size()}; }
  };
  template <class F>
  Operands operands(const GraphNode& n, F axis_of) const {
    Operands o;
    for (ValueId v : n.in) {
      o.type.push_back(body_.values[v]);
      o.axis.push_back(in_.from[v] == 0 ? kInvariant : axis_of(v));
    }
    return o;
  }
  template <class F>
  ValueId emit(const GraphNode& n, const Operands& o, F value_of) {
    SmallVec<ValueId, 4> values;
    for (ValueId v : n.in) values.push_back(in_.from[v] == 0 ? outer_[v] : value_of(v));
    return emit_stacked(r_, n, o.types(), body_.values[n.out[0]], o.axes(),
                        {values.data(), values.size()}, a_.length);
  }

  bool invariants_are_out(const GraphNode& n) const {
    for (ValueId v : n.in)
      if (in_.from[v] == 0 && outer_[v] == kNoValue) return false;
    return true;
  }

  /// One value per result of the scan. Runs twice: first it finds what the loop must stack (the values it
  /// returns then mean nothing), then, with the loop there, it emits.
  SmallVec<ValueId, 1> results() {
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

  /// The sum of f over all steps. The depth is bounded by can_sum.
  ValueId sum_of(ValueId f, int depth) {
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

  /// Where the last operand is a part of a concat (the gates of one cell), the sum is a slice of the sum with all
  /// of the concat, which the other parts share.
  std::optional<ValueId> part_of_larger_sum(const GraphNode& n, int depth) {
    if (n.prim == Prim::conv_filter_grad) return std::nullopt;
    const ValueId last = n.in[n.in.size() - 1];
    const auto part = in_.parts.find(last);
    if (part == in_.parts.end() || !in_.shares_whole(n)) return std::nullopt;
    // The axis of the result that is the concat's.
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

  ValueId sum_of_operands(const GraphNode& n, const SmallVec<ValueId, 4>& in, int depth) {
    if (planning_) forms_.emplace(&n, form_of_sum(n, in));
    const Stacked form = forms_.at(&n);
    SmallVec<ValueId, 2> values;
    for (ValueId v : in) values.push_back(all_steps(v, form.axis, form.reversed, depth + 1));
    return planning_ ? kNoValue
                     : emit_sum_over_time(r_, n, form.axis, {values.data(), values.size()});
  }

  /// A sum may be taken in any order: that in which most of the operands are there already. What the loop hands
  /// out once it need not hand out again, and turning a small operand is better than a large one.
  Stacked form_of_sum(const GraphNode& n, const SmallVec<ValueId, 4>& in) const {
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

  /// A value of the body for all steps, along that axis and in that order.
  ValueId all_steps(ValueId v, int64_t axis, bool reversed, int depth) {
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

  /// What may go behind the loop: a product that no step needs, and what follows one on its way out.
  void find_movable() {
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

  /// Along which axis the operands should be stacked so that the result is stacked along `wanted`, or anywhere.
  std::optional<int64_t> operand_axis(const GraphNode& n, int64_t wanted) const {
    size_t shallowest = SIZE_MAX;
    for (ValueId v : n.in)
      if (in_.from[v] != 0) shallowest = std::min(shallowest, body_.values[v].shape.ndim());
    // The loop stacks along the first axis for nothing; then a small result is turned rather than large operands.
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

  ValueId arranged(const Stacked& s, int64_t axis, bool reversed) {
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

  const Request* requested(ValueId v, int64_t axis, bool reversed) const {
    for (const Request& q : requests_)
      if (q.inner == v && q.axis == axis && q.reversed == reversed) return &q;
    return nullptr;
  }

  ValueId request(ValueId v, int64_t axis, bool reversed) {
    if (const Request* q = requested(v, axis, reversed)) return q->value;
    invariant(planning_, "a loop has a result that nobody asked for");
    requests_.push_back({v, axis, reversed});
    return kNoValue;
  }

  /// The loop with what is left. Sequences, carries and captures that nothing reads any more are dropped when
  /// dead code goes.
  SmallVec<ValueId, 1> emit_loop() {
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
      if (possible) body.copy(body_, n, now);  // else it reads a sum that is taken after the loop
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

  Rewriter& r_;
  const GraphNode& n_;
  const Types& types_;
  const attrs::scan a_;
  const Graph& body_;
  const LoopBody in_;  // what the body is made of
  bool planning_ = true;
  std::vector<ValueId> kept_results_;
  std::vector<ValueId> outer_;    // per value of the body that is the same in each step: that value
  std::vector<Stacked> stacked_;  // per value of the body: its form before the loop, if it has one
  std::vector<ValueId> hoisted_;
  std::vector<size_t> sums_;  // carries that sum up, large ones first
  std::vector<Request> requests_;
  std::map<const GraphNode*, Stacked>
      forms_;  // per sum over the steps: how its operands are stacked
  std::vector<uint8_t> movable_;
  std::map<std::tuple<ValueId, int64_t, bool>, ValueId> moved_;
};

/// Slices of one matrix, put together in their order, are that matrix again: where each operand begins.
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
      Graph body = push_slices(improve_loops(*b));
      if (n.prim == Prim::scan)
        body = merge_products(std::move(body), n.as<attrs::scan>(), first_columns(r, copy));
      copy.bodies.push_back(std::make_shared<const Graph>(std::move(body)));
    }
    Types types;
    for (ValueId v : n.out) types.push_back(graph.values[v]);
    const SmallVec<ValueId, 1> out =
        n.prim == Prim::scan ? LoopRewriter(r, copy, types).run() : r.emit(std::move(copy), types);
    for (size_t i = 0; i < n.out.size(); ++i) now[n.out[i]] = out[i];
  }
  for (ValueId v : graph.outputs) r.graph.outputs.push_back(now[v]);
  r.graph.in_place = graph.in_place;
  return remove_dead(shorten_tapes(std::move(r.graph)));
}

}  // namespace horngate
