// Tapes: what a loop keeps for another loop over the same steps. A value that is cheap to compute from others
// that are kept anyway is not kept: the other loop recomputes it.
#include <algorithm>
#include <map>
#include <set>

#include "passes/passes.h"
#include "passes/rewriter.h"

namespace horngate {
namespace {

constexpr int kMostNodes = 4;  // recomputed for one value

bool is_cheap(Prim p) {
  return cost_of(p) == 1 || p == Prim::select || p == Prim::broadcast || p == Prim::cast;
}

/// Two loops of a graph: `reader` has results of `writer` among its sequences.
class TapeShortener {
 public:
  TapeShortener(const GraphNode& writer, GraphNode& reader, const std::vector<uint32_t>& uses)
      : writer_(writer),
        reader_(reader),
        body_(*writer.bodies[0]),
        w_(writer.as<attrs::scan>()),
        r_(reader.as<attrs::scan>()) {
    n_x_ = static_cast<size_t>(w_.xs);
    n_c_ = static_cast<size_t>(w_.carries);
    maker_.assign(body_.values.size(), nullptr);
    for (const GraphNode& n : body_.nodes)
      for (ValueId v : n.out) maker_[v] = &n;
    find_kept(uses);
  }

  void run() {
    for (const auto& [v, x] : kept_) {
      int budget = kMostNodes;
      if (x.only_here && maker_[v] && can_compute(v, budget, true)) again_.push_back(v);
    }
    // In node order, so that operands come first.
    std::sort(again_.begin(), again_.end(),
              [&](ValueId a, ValueId b) { return maker_[a] < maker_[b]; });
    if (!again_.empty()) rewrite();
  }

 private:
  struct TapedValue {
    size_t sequence;  // its number in the reader
    bool only_here;   // nothing else reads the stacked value
  };

  bool backwards(bool written, bool read) const { return written != read; }

  /// Finds the values of the writer's body that the reader gets step by step, all in the same order.
  void find_kept(const std::vector<uint32_t>& uses) {
    bool first = true, order = false;
    const auto add = [&](ValueId inner, size_t x, bool reversed, bool only_here) {
      const bool here = backwards(reversed, r_.x_reversed[x] != 0);
      if (first) order = here;
      first = false;
      if (here == order) kept_.try_emplace(inner, TapedValue{x, only_here});
    };
    for (size_t x = 0; x < static_cast<size_t>(r_.xs); ++x) {
      for (size_t y = 0; y < static_cast<size_t>(w_.ys); ++y)
        if (reader_.in[x] == writer_.out[n_c_ + y] && r_.x_axes[x] == w_.y_axes[y])
          add(body_.outputs[n_c_ + y], x, w_.y_reversed[y] != 0, uses[reader_.in[x]] == 1);
    }
    for (size_t x = 0; x < static_cast<size_t>(r_.xs); ++x)
      for (size_t i = 0; i < n_x_; ++i)
        if (reader_.in[x] == writer_.in[i] && r_.x_axes[x] == w_.x_axes[i])
          add(body_.inputs[i], x, w_.x_reversed[i] != 0, false);
  }

  /// The operand behind a value of the body that is the same in each step.
  ValueId captured(ValueId v) const {
    for (size_t i = n_x_ + n_c_; i < writer_.in.size(); ++i)
      if (body_.inputs[i] == v) return writer_.in[i];
    return kNoValue;
  }

  bool can_compute(ValueId v, int& budget, bool root) const {
    if (!root && kept_.count(v)) return true;
    const GraphNode* n = maker_[v];
    if (!n) return captured(v) != kNoValue;
    if (n->prim == Prim::constant) return true;
    if (!is_cheap(n->prim) || budget-- == 0) return false;
    return std::all_of(n->in.begin(), n->in.end(),
                       [&](ValueId o) { return can_compute(o, budget, false); });
  }

  /// Recurses no deeper than can_compute does: other recomputed values have been made before.
  ValueId compute(ValueId v) {
    if (const auto it = made_.find(v); it != made_.end()) return it->second;
    const GraphNode* n = maker_[v];
    GraphNode copy = *n;
    for (ValueId& o : copy.in) o = compute(o);
    const ValueId made = r_body_.emit(std::move(copy), {body_.values[v]})[0];
    made_[v] = made;
    return made;
  }

  /// Captures that one value needs, in order of discovery. Other recomputed values get their own call.
  void find_captures(ValueId v, bool root, std::vector<ValueId>& found) const {
    if (!root && kept_.count(v)) return;
    const GraphNode* n = maker_[v];
    if (!n) {
      if (std::find(found.begin(), found.end(), v) == found.end()) found.push_back(v);
      return;
    }
    for (ValueId o : n->in) find_captures(o, false, found);
  }

  void rewrite() {
    const Graph& old = *reader_.bodies[0];
    std::vector<ValueId> now(old.values.size(), kNoValue), captures;
    std::map<size_t, ValueId> gone;  // sequence of the reader: value of the writer's body
    for (ValueId v : again_) gone[kept_.at(v).sequence] = v;
    for (ValueId v : again_) find_captures(v, true, captures);
    attrs::scan a = r_;
    a.x_axes.clear();
    a.x_reversed.clear();
    SmallVec<ValueId, 4> in;
    for (size_t i = 0; i + 1 < old.inputs.size(); ++i) {
      if (i < static_cast<size_t>(r_.xs)) {
        if (gone.count(i)) continue;
        a.x_axes.push_back(r_.x_axes[i]);
        a.x_reversed.push_back(r_.x_reversed[i]);
      }
      in.push_back(reader_.in[i]);
      now[old.inputs[i]] = r_body_.input(old.values[old.inputs[i]]);
    }
    for (const auto& [v, x] : kept_)
      if (!gone.count(x.sequence)) made_[v] = now[old.inputs[x.sequence]];
    for (ValueId v : captures) {
      in.push_back(captured(v));
      made_[v] = r_body_.input(body_.values[v]);
    }
    now[old.inputs.back()] = r_body_.input(old.values[old.inputs.back()]);
    for (ValueId v : again_) now[old.inputs[kept_.at(v).sequence]] = compute(v);
    for (const GraphNode& n : old.nodes) r_body_.copy(old, n, now);
    std::vector<ValueId> outputs;
    for (ValueId v : old.outputs) outputs.push_back(now[v]);
    a.xs = static_cast<int64_t>(a.x_axes.size());
    reader_.in = std::move(in);
    reader_.attrs = AttrRef(new AttrsOf<attrs::scan>(std::move(a)));
    reader_.bodies[0] = std::make_shared<const Graph>(r_body_.finish(std::move(outputs)));
  }

  const GraphNode& writer_;
  GraphNode& reader_;
  const Graph& body_;  // of the writer
  const attrs::scan w_, r_;
  size_t n_x_, n_c_;
  std::vector<const GraphNode*> maker_;
  std::map<ValueId, TapedValue> kept_;
  std::vector<ValueId> again_;  // recomputed, operands first
  Rewriter r_body_;
  std::map<ValueId, ValueId> made_;  // value in the writer's body: value in the reader's
};

}  // namespace

Graph shorten_tapes(Graph g) {
  std::vector<int64_t> loop(g.values.size(), -1);  // the loop that makes each value
  std::vector<uint32_t> uses(g.values.size(), 0);
  bool any = false;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    for (ValueId v : g.nodes[i].in) ++uses[v];
    if (g.nodes[i].prim != Prim::scan) continue;
    any = true;
    for (ValueId v : g.nodes[i].out) loop[v] = static_cast<int64_t>(i);
  }
  if (!any) return g;
  for (ValueId v : g.outputs) ++uses[v];
  for (GraphNode& n : g.nodes) {
    if (n.prim != Prim::scan) continue;
    std::set<int64_t> writers;
    for (int64_t x = 0; x < n.as<attrs::scan>().xs; ++x)
      if (loop[n.in[x]] >= 0) writers.insert(loop[n.in[x]]);
    for (int64_t w : writers) {
      const GraphNode& writer = g.nodes[static_cast<size_t>(w)];
      if (writer.as<attrs::scan>().length == n.as<attrs::scan>().length)
        TapeShortener(writer, n, uses).run();
    }
  }
  return g;
}

}  // namespace horngate
