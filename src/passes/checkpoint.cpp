#include "passes/checkpoint.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

#include "ir/environment.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "passes/slices.h"

namespace horngate {
namespace {

std::atomic<size_t> chosen_budget{0};

constexpr int64_t kShortest = 4;  // shorter loops stay whole

/// Steps per block: a divisor of the length near its square root, or else the root itself with a shorter rest.
int64_t block_length(int64_t length) {
  const double root = std::sqrt(static_cast<double>(length));
  int64_t best = 0;
  double distance = std::log(2.0) + 1e-9;
  for (auto d = static_cast<int64_t>(root / 2); d <= static_cast<int64_t>(root * 2) + 1; ++d)
    if (d > 1 && d < length && length % d == 0)
      if (const double far = std::abs(std::log(static_cast<double>(d) / root)); far < distance) {
        best = d;
        distance = far;
      }
  return best ? best : std::llround(root);
}

/// A loop taken apart: operands and attributes in the order of the body's inputs and results.
struct Loop {
  const GraphNode* node;
  attrs::scan a;
  size_t n_x, n_c, n_cap;
  explicit Loop(const GraphNode& n) : node(&n), a(n.as<attrs::scan>()) {
    n_x = static_cast<size_t>(a.xs);
    n_c = static_cast<size_t>(a.carries);
    n_cap = n.in.size() - n_x - n_c;
  }
  const Graph& body() const { return *node->bodies[0]; }
  bool uses_index() const {
    const ValueId index = body().inputs.back();
    for (const GraphNode& n : body().nodes)
      if (std::find(n.in.begin(), n.in.end(), index) != n.in.end()) return true;
    return std::find(body().outputs.begin(), body().outputs.end(), index) != body().outputs.end();
  }
};

/// Two loops, with the results of the first that only the second reads, backwards.
struct Pair {
  size_t forward, backward;        // nodes
  std::map<ValueId, size_t> tape;  // value in the graph: its number among the forward loop's ys
};

std::vector<Pair> find_pairs(const Graph& g, size_t budget) {
  std::vector<int64_t> reader(g.values.size(),
                              -1);  // the one loop that reads it as a sequence; -2: others do
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const GraphNode& n = g.nodes[i];
    const auto xs = n.prim == Prim::scan ? static_cast<size_t>(n.as<attrs::scan>().xs) : 0;
    for (size_t k = 0; k < n.in.size(); ++k) {
      int64_t& r = reader[n.in[k]];
      const auto here = static_cast<int64_t>(i);
      r = k < xs && (r == -1 || r == here) ? here : -2;
    }
  }
  for (ValueId v : g.outputs) reader[v] = -2;
  std::vector<Pair> pairs;
  std::vector<uint8_t> taken(g.nodes.size(), 0);
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    if (g.nodes[i].prim != Prim::scan || taken[i]) continue;
    const Loop f(g.nodes[i]);
    if (f.a.length < kShortest) continue;
    std::map<size_t, Pair> by_reader;
    std::map<size_t, size_t> bytes;
    for (size_t y = 0; y < static_cast<size_t>(f.a.ys); ++y) {
      const ValueId v = f.node->out[f.n_c + y];
      if (reader[v] < 0) continue;
      const auto at = static_cast<size_t>(reader[v]);
      const Loop b(g.nodes[at]);
      bool fits = !taken[at] && b.a.length == f.a.length;
      for (size_t x = 0; x < b.n_x; ++x)
        if (b.node->in[x] == v)
          fits &= b.a.x_axes[x] == f.a.y_axes[y] && b.a.x_reversed[x] != f.a.y_reversed[y];
      if (!fits) continue;
      by_reader[at].tape[v] = y;
      bytes[at] += g.values[v].nbytes();
    }
    const auto largest = std::max_element(bytes.begin(), bytes.end(),
                                          [](auto& a, auto& b) { return a.second < b.second; });
    if (largest == bytes.end() || largest->second <= budget) continue;
    Pair& p = by_reader[largest->first];
    p.forward = i;
    p.backward = largest->first;
    taken[p.forward] = taken[p.backward] = 1;
    pairs.push_back(std::move(p));
  }
  return pairs;
}

/// The body with an additional capture that is added to the step number.
GraphRef with_first_step(const Loop& loop) {
  const Graph& from = loop.body();
  Rewriter r;
  std::vector<ValueId> now(from.values.size(), kNoValue);
  for (size_t i = 0; i + 1 < from.inputs.size(); ++i)
    now[from.inputs[i]] = r.input(from.values[from.inputs[i]]);
  const ValueId first = r.input(TensorType(DType::int64, {}));
  const ValueId index = r.input(TensorType(DType::int64, {}));
  now[from.inputs.back()] = r.emit(Prim::add, {index, first});
  for (const GraphNode& n : from.nodes) r.copy(from, n, now);
  std::vector<ValueId> outputs;
  for (ValueId v : from.outputs) outputs.push_back(now[v]);
  return std::make_shared<const Graph>(r.finish(std::move(outputs)));
}

TensorType without_axis(TensorType t, int64_t axis) {
  t.shape.dims().erase(t.shape.dims().begin() + axis);
  return t;
}

using Values = std::vector<ValueId>;

/// Emits loops of one of the two kinds: over some of the steps, or over blocks of them.
class LoopMaker {
 public:
  LoopMaker(const Loop& loop, bool again) : loop_(loop), body_(loop.node->bodies[0]) {
    counts_ = loop.uses_index();
    if (counts_) body_ = with_first_step(loop);
    if (again)  // each line is printed once
      body_ = std::make_shared<const Graph>(
          without_prints(*body_, [](const GraphNode&) { return true; }));
  }

  /// The loop over `length` steps, the first of them number `first`. `ys`: which of its results are wanted.
  SmallVec<ValueId, 1> emit(Rewriter& r, const Values& xs, const Values& carries,
                            const Values& captures, ValueId first, int64_t length,
                            const std::vector<size_t>& ys) const {
    GraphNode n{Prim::scan, {}, {}, {}, {}, loop_.node->name};
    attrs::scan a = loop_.a;
    a.length = length;
    a.y_axes.clear();
    a.y_reversed.clear();
    for (const Values* part : {&xs, &carries, &captures})
      for (ValueId v : *part) n.in.push_back(v);
    if (counts_) n.in.push_back(first);
    Graph body = *body_;
    Values outputs(body.outputs.begin(), body.outputs.begin() + static_cast<int64_t>(loop_.n_c));
    Types types;
    for (ValueId v : carries) types.push_back(r.type(v));
    for (size_t y : ys) {
      const ValueId inner = body.outputs[loop_.n_c + y];
      outputs.push_back(inner);
      a.y_axes.push_back(loop_.a.y_axes[y]);
      a.y_reversed.push_back(loop_.a.y_reversed[y]);
      TensorType t = body.values[inner];
      t.shape.dims().insert(t.shape.dims().begin() + loop_.a.y_axes[y], length);
      types.push_back(t);
    }
    a.ys = static_cast<int64_t>(ys.size());
    body.outputs = std::move(outputs);
    n.attrs = AttrRef(new AttrsOf<attrs::scan>(std::move(a)));
    n.bodies.push_back(std::make_shared<const Graph>(remove_dead(std::move(body))));
    return r.emit(std::move(n), types);
  }

 private:
  const Loop& loop_;
  GraphRef body_;
  bool counts_;
};

/// A loop over blocks under construction.
struct BlockLoop {
  GraphNode node{Prim::scan, {}, {}, {}, {}, {}};
  attrs::scan a;
  Rewriter body;
  Types types;

  ValueId sequence(const Rewriter& r, ValueId v, int64_t axis, bool reversed) {
    node.in.push_back(v);
    a.x_axes.push_back(axis);
    a.x_reversed.push_back(reversed);
    return body.input(without_axis(r.type(v), axis));
  }
  ValueId operand(const Rewriter& r, ValueId v) {
    node.in.push_back(v);
    return body.input(r.type(v));
  }
  void carry_result(ValueId v) {
    body.graph.outputs.push_back(v);
    types.push_back(body.type(v));
  }
  void stacked_result(ValueId v, int64_t axis, bool reversed) {
    body.graph.outputs.push_back(v);
    a.y_axes.push_back(axis);
    a.y_reversed.push_back(reversed);
    TensorType t = body.type(v);
    t.shape.dims().insert(t.shape.dims().begin() + axis, a.length);
    types.push_back(t);
  }
  SmallVec<ValueId, 1> emit(Rewriter& r, std::set<const Graph*>& done) {
    a.xs = static_cast<int64_t>(a.x_axes.size());
    a.ys = static_cast<int64_t>(a.y_axes.size());
    a.carries = static_cast<int64_t>(types.size()) - a.ys;
    node.attrs = AttrRef(new AttrsOf<attrs::scan>(std::move(a)));
    node.bodies.push_back(std::make_shared<const Graph>(improve_loops(std::move(body.graph))));
    done.insert(node.bodies[0].get());
    return r.emit(std::move(node), types);
  }
};

/// Times are those of the forward loop. A sequence is flipped when time t is at length - 1 - t. The whole blocks
/// come first, the rest follows them in time.
class PairRewriter {
 public:
  PairRewriter(Rewriter& r, std::vector<ValueId>& now, const Graph& g, const Pair& pair,
               std::set<const Graph*>& done)
      : r_(r),
        now_(now),
        pair_(pair),
        done_(done),
        forward_(g.nodes[pair.forward]),
        backward_(g.nodes[pair.backward]),
        length_(forward_.a.length),
        block_(block_length(length_)),
        blocks_(length_ / block_),
        rest_(length_ - block_ * blocks_) {
    for (size_t y = 0; y < static_cast<size_t>(forward_.a.ys); ++y)
      (pair.tape.count(forward_.node->out[forward_.n_c + y]) ? tapes_ : kept_).push_back(y);
    for (size_t y = 0; y < static_cast<size_t>(backward_.a.ys); ++y) all_.push_back(y);
  }

  void emit_forward() {
    const LoopMaker loop(forward_, false);
    BlockLoop outer;
    outer.node.name = forward_.node->name;
    outer.a.length = blocks_;
    Values xs, carries, captures;
    for (size_t i = 0; i < forward_.n_x; ++i) {
      const bool flipped = forward_.a.x_reversed[i];
      xs.push_back(outer.sequence(r_,
                                  whole_blocks(operand(forward_, i), forward_.a.x_axes[i], flipped),
                                  forward_.a.x_axes[i], flipped));
    }
    for (size_t i = 0; i < forward_.n_c; ++i)
      carries.push_back(outer.operand(r_, operand(forward_, forward_.n_x + i)));
    for (size_t i = 0; i < forward_.n_cap; ++i)
      captures.push_back(outer.operand(r_, operand(forward_, forward_.n_x + forward_.n_c + i)));
    const ValueId first =
        step_of_block(outer.body, outer.body.input(TensorType(DType::int64, {})), 0, 1);
    const auto out = loop.emit(outer.body, xs, carries, captures, first, block_, kept_);
    for (size_t i = 0; i < forward_.n_c; ++i) outer.carry_result(out[i]);
    for (size_t k = 0; k < kept_.size(); ++k)
      outer.stacked_result(out[forward_.n_c + k], forward_.a.y_axes[kept_[k]],
                           forward_.a.y_reversed[kept_[k]]);
    for (ValueId c : carries) outer.stacked_result(c, 0, false);
    const auto made = outer.emit(r_, done_);
    checkpoints_.assign(made.end() - static_cast<int64_t>(forward_.n_c), made.end());
    finish_forward(loop, {made.begin(), made.end() - static_cast<int64_t>(forward_.n_c)});
  }

  void emit_backward() {
    Values carries;
    for (size_t i = 0; i < backward_.n_c; ++i)
      carries.push_back(operand(backward_, backward_.n_x + i));
    const LoopMaker loop(backward_, false);
    Values late;
    if (rest_) {
      Values xs, captures;
      for (size_t i = 0; i < backward_.n_x; ++i) {
        const auto tape = late_tapes_.find(backward_.node->in[i]);
        xs.push_back(tape != late_tapes_.end()
                         ? tape->second
                         : rest_of(operand(backward_, i), backward_.a.x_axes[i],
                                   !backward_.a.x_reversed[i]));
      }
      for (size_t i = 0; i < backward_.n_cap; ++i)
        captures.push_back(operand(backward_, backward_.n_x + backward_.n_c + i));
      const auto out = loop.emit(r_, xs, carries, captures, number(r_, 0), rest_, all_);
      carries.assign(out.begin(), out.begin() + static_cast<int64_t>(backward_.n_c));
      late.assign(out.begin() + static_cast<int64_t>(backward_.n_c), out.end());
    }
    emit_backward_blocks(loop, carries, late);
  }

 private:
  ValueId operand(const Loop& loop, size_t i) const { return now_[loop.node->in[i]]; }

  static ValueId number(Rewriter& r, int64_t value) {
    return r.constant(Array::full(DType::int64, {}, static_cast<double>(value)));
  }
  /// start + sign * block * (steps per block)
  ValueId step_of_block(Rewriter& r, ValueId block, int64_t start, int64_t sign) const {
    const ValueId steps = r.emit(Prim::mul, {block, number(r, sign * block_)});
    return start == 0 ? steps : r.emit(Prim::add, {steps, number(r, start)});
  }

  ValueId range(ValueId v, int64_t axis, int64_t start, int64_t stop) {
    if (start == 0 && stop == length_) return v;
    return r_.emit(slice_along(r_.type(v).shape.ndim(), {static_cast<size_t>(axis), start, stop}),
                   {v});
  }
  ValueId whole_blocks(ValueId v, int64_t axis, bool flipped) {
    const ValueId part = range(v, axis, flipped ? rest_ : 0, flipped ? length_ : length_ - rest_);
    Ints dims = r_.type(part).shape.dims();
    dims[static_cast<size_t>(axis)] = block_;
    dims.insert(dims.begin() + axis, blocks_);
    return r_.emit(attrs::reshape{.shape = dims}, {part});
  }
  ValueId rest_of(ValueId v, int64_t axis, bool flipped) {
    return range(v, axis, flipped ? 0 : length_ - rest_, flipped ? rest_ : length_);
  }
  ValueId joined(ValueId blocks, ValueId rest, int64_t axis, bool flipped) {
    Ints dims = r_.type(blocks).shape.dims();
    dims.erase(dims.begin() + axis);
    dims[static_cast<size_t>(axis)] = block_ * blocks_;
    const ValueId first = r_.emit(attrs::reshape{.shape = dims}, {blocks});
    if (!rest_) return first;
    if (flipped) return r_.emit(attrs::concat{.axis = axis}, {rest, first});
    return r_.emit(attrs::concat{.axis = axis}, {first, rest});
  }

  /// The steps after the blocks keep an ordinary tape; then the results are joined.
  void finish_forward(const LoopMaker& loop, Values made) {
    Values late;
    if (rest_) {
      Values xs, captures;
      for (size_t i = 0; i < forward_.n_x; ++i)
        xs.push_back(rest_of(operand(forward_, i), forward_.a.x_axes[i], forward_.a.x_reversed[i]));
      for (size_t i = 0; i < forward_.n_cap; ++i)
        captures.push_back(operand(forward_, forward_.n_x + forward_.n_c + i));
      std::vector<size_t> ys = kept_;
      ys.insert(ys.end(), tapes_.begin(), tapes_.end());
      const auto out =
          loop.emit(r_, xs, {made.begin(), made.begin() + static_cast<int64_t>(forward_.n_c)},
                    captures, number(r_, length_ - rest_), rest_, ys);
      for (size_t i = 0; i < forward_.n_c; ++i) made[i] = out[i];
      late.assign(out.begin() + static_cast<int64_t>(forward_.n_c), out.end());
      for (size_t k = 0; k < tapes_.size(); ++k)
        late_tapes_[forward_.node->out[forward_.n_c + tapes_[k]]] = late[kept_.size() + k];
    }
    for (size_t i = 0; i < forward_.n_c; ++i) now_[forward_.node->out[i]] = made[i];
    for (size_t k = 0; k < kept_.size(); ++k)
      now_[forward_.node->out[forward_.n_c + kept_[k]]] =
          joined(made[forward_.n_c + k], rest_ ? late[k] : kNoValue, forward_.a.y_axes[kept_[k]],
                 forward_.a.y_reversed[kept_[k]]);
  }

  /// Block by block, the last one first: forward again from the checkpoint, then back.
  void emit_backward_blocks(const LoopMaker& loop, const Values& start, const Values& late) {
    const LoopMaker again(forward_, true);
    BlockLoop outer;
    outer.node.name = backward_.node->name;
    outer.a.length = blocks_;
    Values xs(backward_.n_x, kNoValue), forward_xs, forward_carries, carries, captures,
        forward_captures;
    for (size_t i = 0; i < backward_.n_x; ++i) {
      if (pair_.tape.count(backward_.node->in[i])) continue;
      const bool reversed = backward_.a.x_reversed[i];
      xs[i] =
          outer.sequence(r_, whole_blocks(operand(backward_, i), backward_.a.x_axes[i], !reversed),
                         backward_.a.x_axes[i], reversed);
    }
    for (size_t i = 0; i < forward_.n_x; ++i) {
      const bool flipped = forward_.a.x_reversed[i];
      forward_xs.push_back(
          outer.sequence(r_, whole_blocks(operand(forward_, i), forward_.a.x_axes[i], flipped),
                         forward_.a.x_axes[i], !flipped));
    }
    for (ValueId c : checkpoints_) forward_carries.push_back(outer.sequence(r_, c, 0, true));
    for (ValueId c : start) carries.push_back(outer.operand(r_, c));
    for (size_t i = 0; i < backward_.n_cap; ++i)
      captures.push_back(outer.operand(r_, operand(backward_, backward_.n_x + backward_.n_c + i)));
    for (size_t i = 0; i < forward_.n_cap; ++i)
      forward_captures.push_back(
          outer.operand(r_, operand(forward_, forward_.n_x + forward_.n_c + i)));
    const ValueId block = outer.body.input(TensorType(DType::int64, {}));
    const auto tape =
        again.emit(outer.body, forward_xs, forward_carries, forward_captures,
                   step_of_block(outer.body, block, (blocks_ - 1) * block_, -1), block_, tapes_);
    for (size_t i = 0; i < backward_.n_x; ++i)
      if (const auto it = pair_.tape.find(backward_.node->in[i]); it != pair_.tape.end())
        xs[i] = tape[forward_.n_c +
                     static_cast<size_t>(std::find(tapes_.begin(), tapes_.end(), it->second) -
                                         tapes_.begin())];
    const auto out = loop.emit(outer.body, xs, carries, captures,
                               step_of_block(outer.body, block, rest_, 1), block_, all_);
    for (size_t i = 0; i < backward_.n_c; ++i) outer.carry_result(out[i]);
    for (size_t y : all_)
      outer.stacked_result(out[backward_.n_c + y], backward_.a.y_axes[y],
                           backward_.a.y_reversed[y]);
    const auto made = outer.emit(r_, done_);
    for (size_t i = 0; i < backward_.n_c; ++i) now_[backward_.node->out[i]] = made[i];
    for (size_t y : all_)
      now_[backward_.node->out[backward_.n_c + y]] =
          joined(made[backward_.n_c + y], rest_ ? late[y] : kNoValue, backward_.a.y_axes[y],
                 !backward_.a.y_reversed[y]);
  }

  Rewriter& r_;
  std::vector<ValueId>& now_;
  const Pair& pair_;
  std::set<const Graph*>& done_;
  const Loop forward_, backward_;
  const int64_t length_, block_, blocks_, rest_;
  // Numbers of ys: kept whole; only for the tape; all those of the backward loop.
  std::vector<size_t> kept_, tapes_, all_;
  Values checkpoints_;
  std::map<ValueId, ValueId> late_tapes_;  // of the steps after the blocks
};

}  // namespace

size_t tape_budget() {
  if (const size_t set = chosen_budget.load()) return set;
  static const size_t standard = [] {
    if (const int64_t bytes = environment_count("HORNGATE_TAPE_BYTES"))
      return static_cast<size_t>(bytes);
    return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<size_t>(sysconf(_SC_PAGE_SIZE)) / 4;
  }();
  return standard;
}

void set_tape_budget(size_t bytes) { chosen_budget = bytes; }

Graph cut_long_tapes(Graph graph, std::set<const Graph*>& done) {
  const std::vector<Pair> pairs = find_pairs(graph, tape_budget());
  if (pairs.empty()) return graph;
  Rewriter r;
  std::vector<ValueId> now(graph.values.size(), kNoValue);
  std::vector<std::unique_ptr<PairRewriter>> rewriters;
  std::map<size_t, size_t> forward, backward;
  for (const Pair& p : pairs) {
    forward[p.forward] = backward[p.backward] = rewriters.size();
    rewriters.push_back(std::make_unique<PairRewriter>(r, now, graph, p, done));
  }
  for (ValueId v : graph.inputs) now[v] = r.input(graph.values[v]);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (const auto f = forward.find(i); f != forward.end())
      rewriters[f->second]->emit_forward();
    else if (const auto b = backward.find(i); b != backward.end())
      rewriters[b->second]->emit_backward();
    else
      r.copy(graph, graph.nodes[i], now);
  }
  for (ValueId v : graph.outputs) r.graph.outputs.push_back(now[v]);
  r.graph.in_place = graph.in_place;
  return std::move(r.graph);
}

}  // namespace horngate
