// The reverse walk. Operands are older than their node, so descending ids visit users before operands.
#include "grad/reverse.h"

#include <algorithm>
#include <unordered_map>

#include "ir/node_index.h"
#include "prims/build.h"

namespace horngate {
namespace {

/// The phases in which a cotangent counts. Behind an operand of `phase` that is only one, and in the other it is 0 in truth,
/// whatever is computed: 0 times an infinite derivative would be NaN. So it is set to 0 where it leaves that part.
enum Phases : uint8_t { kTest = 1, kTrain = 2, kBoth = 3 };

/// What is known about a node during the walk.
struct Entry {
  const Node* node;
  SmallVec<Tensor, 1> dy;  // cotangent of each output
  uint8_t phases = kBoth;  // of all of them
  bool is_target = false;
  bool live = false;  // a target, or depends on one differentiably
};

class Walk {
 public:
  Walk(const Tensors& roots, const Tensors& seeds, const Tensors& targets, bool cut,
       std::vector<WalkStep>* notes = nullptr)
      : notes_(notes) {
    collect(roots, targets, cut);
    mark_live(cut);
    for (size_t i = 0; i < roots.size(); ++i) accumulate(roots[i], seeds[i]);
    for (size_t i = entries_.size(); i-- > 0;) {
      Entry& e = entries_[i];
      if (!e.live || (cut && e.is_target)) continue;
      propagate(e, i);
      // Cotangents of inner nodes are no longer needed, and long chains would keep them all alive.
      if (!e.is_target) e.dy.clear();
    }
  }

  Tensors cotangents(const Tensors& targets) {
    Tensors out;
    for (const Tensor& t : targets) {
      const Entry* e = entry(t);
      out.push_back(!e || e->dy.empty() ? Tensor() : counting(e->dy[t.index()], e->phases));
    }
    return out;
  }

 private:
  Entry* entry(const Tensor& t) {
    const uint32_t at = index_.find(t.node());
    return at == NodeIndex::kNone ? nullptr : &entries_[at];
  }

  bool ends_at(const Node& n) const {
    return (primitive(n.prim).flags & kNoGradient) != 0 && !notes_;
  }

  /// Nodes between roots and targets. Nothing older than the oldest target can depend on one.
  void collect(const Tensors& roots, const Tensors& targets, bool cut) {
    constexpr uint32_t kVisited = 0, kTarget = 1, kVisitedTarget = 2;
    uint64_t oldest = UINT64_MAX;
    for (const Tensor& t : targets) {
      oldest = std::min(oldest, t.node()->id);
      index_[t.node()] = kTarget;
    }
    std::vector<const Node*> found, stack;
    const auto visit = [&](const Node* n) {
      if (n->id < oldest) return;
      uint32_t& state = index_[n];
      if (state == kVisited || state == kVisitedTarget) return;
      state = state == kTarget ? kVisitedTarget : kVisited;
      stack.push_back(n);
      found.push_back(n);
    };
    for (const Tensor& r : roots) visit(r.node());
    while (!stack.empty()) {
      const Node* n = stack.back();
      stack.pop_back();
      if (cut && index_.find(n) == kVisitedTarget) continue;
      if (ends_at(*n)) continue;
      for (const Tensor& t : n->in) visit(t.node());
    }
    std::sort(found.begin(), found.end(),
              [](const Node* a, const Node* b) { return a->id < b->id; });
    entries_.reserve(found.size());
    for (const Tensor& t : targets)
      if (uint32_t& state = index_[t.node()]; state == kTarget) state = NodeIndex::kNone;
    for (const Node* n : found) {
      uint32_t& state = index_[n];
      entries_.push_back({.node = n, .is_target = state == kVisitedTarget});
      state = static_cast<uint32_t>(entries_.size() - 1);
    }
  }

  void mark_live(bool cut) {
    for (Entry& e : entries_) {
      e.live = e.is_target;
      if (e.live && cut) continue;
      if (ends_at(*e.node)) continue;
      for (const Tensor& t : e.node->in) {
        const Entry* from = entry(t);
        if (from && from->live) e.live = true;
      }
    }
  }

  /// The cotangent, or 0 in phases where it does not count.
  static Tensor counting(const Tensor& dy, uint8_t phases) {
    if (!dy.defined() || phases == kBoth) return dy;
    const Tensor zeros = prim::zeros_like(dy);
    if (phases == 0) return zeros;
    return phases == kTrain ? emit(attrs::phase{}, {dy, zeros}) : emit(attrs::phase{}, {zeros, dy});
  }

  static void count_in_both(Entry& e) {
    for (Tensor& dy : e.dy) dy = counting(dy, e.phases);
    e.phases = kBoth;
  }

  void accumulate(const Tensor& t, Tensor dy, uint8_t phases = kBoth) {
    Entry* e = entry(t);
    if (!e || !e->live || !is_float(t.dtype())) return;
    if (e->dy.empty()) {
      e->dy.resize(t.node()->out.size());
      e->phases = phases;
    } else if (e->phases != phases) {
      count_in_both(*e);
      dy = counting(dy, phases);
    }
    Tensor& sum = e->dy[t.index()];
    sum = sum.defined() ? prim::add(sum, dy) : dy;
  }

  void propagate(Entry& e, size_t number) {
    std::vector<TapeCotangent> tapes;
    if (const auto it = tapes_.find(number); it != tapes_.end()) tapes = std::move(it->second);
    if (e.dy.empty() && tapes.empty()) return;
    const Node& n = *e.node;
    if (n.in.empty()) return;
    if (e.dy.empty()) e.dy.resize(n.out.size());
    if (n.prim == Prim::tape || !tapes.empty()) count_in_both(e);
    if (n.prim == Prim::tape) {
      const uint32_t at = index_.find(n.in[0].node());
      if (at != NodeIndex::kNone) tapes_[at].push_back({n.as<attrs::tape>().inner.tensor, e.dy[0]});
      return note(n, e.dy, {e.dy[0]});
    }
    const Primitive& p = primitive(n.prim);
    if (p.flags & kNoGradient) return note(n, e.dy, {});
    const CalledInstead called(n.name.function ? n.name.function : called_function);
    const std::span<const Tensor> dy(e.dy.data(), e.dy.size());
    Tensors dx;
    if (p.grad)
      dx = p.grad(GradCall{n, dy, tapes, reverse});
    else if (p.decompose)
      dx = through_decomposition(n, p, dy);
    invariant(dx.size() == n.in.size(), p.name, " gave ", dx.size(), " gradients for ", n.in.size(),
              " operands");
    note(n, e.dy, dx);
    for (size_t i = 0; i < dx.size(); ++i) {
      const int of = n.prim != Prim::phase ? kBoth : i == 0 ? kTrain : kTest;
      if (dx[i].defined()) accumulate(n.in[i], dx[i], e.phases & of);
    }
  }

  void note(const Node& n, const SmallVec<Tensor, 1>& dy, const Tensors& dx) {
    if (notes_) notes_->push_back({&n, Tensors(dy.begin(), dy.end()), dx});
  }

  static Tensors through_decomposition(const Node& n, const Primitive& p,
                                       std::span<const Tensor> dy) {
    const Tensors out = p.decompose({n.in.data(), n.in.size()}, n.attrs.get());
    Tensors roots, seeds;
    for (size_t i = 0; i < out.size(); ++i) {
      if (!dy[i].defined()) continue;
      roots.push_back(out[i]);
      seeds.push_back(dy[i]);
    }
    Tensors dx = reverse(roots, seeds, Tensors(n.in.begin(), n.in.end()), true);
    // An operand that appears twice received its whole cotangent in both places.
    for (size_t i = 0; i < dx.size(); ++i)
      for (size_t k = 0; k < i; ++k)
        if (n.in[i].same_as(n.in[k])) dx[i] = {};
    return dx;
  }

  std::vector<WalkStep>* const notes_;
  std::vector<Entry> entries_;
  NodeIndex index_;
  std::unordered_map<size_t, std::vector<TapeCotangent>> tapes_;  // by entry
};

}  // namespace

Tensors reverse(const Tensors& roots, const Tensors& seeds, const Tensors& targets, bool cut) {
  return Walk(roots, seeds, targets, cut).cotangents(targets);
}

Tensors reverse_noting(const Tensors& roots, const Tensors& seeds, const Tensors& targets, bool cut,
                       std::vector<WalkStep>& steps) {
  return Walk(roots, seeds, targets, cut, &steps).cotangents(targets);
}

}  // namespace horngate
