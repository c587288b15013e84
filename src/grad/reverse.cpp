// The reverse walk. Operands are older than their node, so descending ids visit users before operands.
#include "grad/reverse.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "prims/build.h"
#include "prims/scan.h"

namespace horngate {
namespace {

/// What is known of a node during the walk.
struct Entry {
  const Node* node;
  bool live = false;       // a target, or depends on one differentiably
  SmallVec<Tensor, 1> dy;  // cotangent of each output
  std::vector<TapeCotangent> tapes;
};

class Walk {
 public:
  Walk(const Tensors& roots, const Tensors& seeds, const Tensors& targets, bool cut) {
    uint64_t oldest = UINT64_MAX;
    for (const Tensor& t : targets) {
      oldest = std::min(oldest, t.node()->id);
      target_nodes_.insert(t.node());
    }
    collect(roots, oldest, cut);
    mark_live(cut);
    for (size_t i = 0; i < roots.size(); ++i) accumulate(roots[i], seeds[i]);
    for (size_t i = entries_.size(); i-- > 0;) {
      Entry& e = entries_[i];
      if (!e.live || (cut && target_nodes_.count(e.node))) continue;
      propagate(e);
      // Cotangents of inner nodes are not needed any more; long chains would keep all of them alive.
      if (!target_nodes_.count(e.node)) e.dy.clear();
    }
  }

  Tensor cotangent(const Tensor& t) {
    const auto it = index_.find(t.node());
    if (it == index_.end()) return {};
    const Entry& e = entries_[it->second];
    return e.dy.empty() ? Tensor() : e.dy[t.index()];
  }

 private:
  /// Nodes between roots and targets. Nothing older than the oldest target can depend on one.
  void collect(const Tensors& roots, uint64_t oldest, bool cut) {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> stack;
    const auto visit = [&](const Node* n) {
      if (n->id >= oldest && seen.insert(n).second) {
        stack.push_back(n);
        entries_.push_back({n, false, {}, {}});
      }
    };
    for (const Tensor& r : roots) visit(r.node());
    while (!stack.empty()) {
      const Node* n = stack.back();
      stack.pop_back();
      if (cut && target_nodes_.count(n)) continue;
      if (primitive(n->prim).flags & kNoGradient) continue;
      for (const Tensor& t : n->in) visit(t.node());
    }
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.node->id < b.node->id; });
    index_.reserve(entries_.size());
    for (size_t i = 0; i < entries_.size(); ++i) index_[entries_[i].node] = i;
  }

  void mark_live(bool cut) {
    for (Entry& e : entries_) {
      e.live = target_nodes_.count(e.node) != 0;
      if (e.live && cut) continue;
      if (primitive(e.node->prim).flags & kNoGradient) continue;
      for (const Tensor& t : e.node->in) {
        const auto it = index_.find(t.node());
        if (it != index_.end() && entries_[it->second].live) e.live = true;
      }
    }
  }

  void accumulate(const Tensor& t, const Tensor& dy) {
    const auto it = index_.find(t.node());
    if (it == index_.end() || !entries_[it->second].live || !is_float(t.dtype())) return;
    SmallVec<Tensor, 1>& all = entries_[it->second].dy;
    if (all.empty()) all.resize(t.node()->out.size());
    Tensor& sum = all[t.index()];
    sum = sum.defined() ? prim::add(sum, dy) : dy;
  }

  void propagate(Entry& e) {
    if (e.dy.empty() && e.tapes.empty()) return;
    const Node& n = *e.node;
    if (n.in.empty()) return;
    if (e.dy.empty()) e.dy.resize(n.out.size());
    if (n.prim == Prim::tape) {
      const auto it = index_.find(n.in[0].node());
      if (it != index_.end())
        entries_[it->second].tapes.push_back({n.as<attrs::tape>().inner.tensor, e.dy[0]});
      return;
    }
    const Primitive& p = primitive(n.prim);
    if (p.flags & kNoGradient) return;
    const CalledInstead called(n.name.function ? n.name.function : called_function);
    const std::span<const Tensor> dy(e.dy.data(), e.dy.size());
    Tensors dx;
    if (n.prim == Prim::scan)
      dx = scan_grad(n, dy, e.tapes);
    else if (p.grad)
      dx = p.grad(GradCall{n, dy});
    else if (p.decompose)
      dx = through_decomposition(n, p, dy);
    invariant(dx.size() == n.in.size(), p.name, " gave ", dx.size(), " gradients for ", n.in.size(),
              " operands");
    for (size_t i = 0; i < dx.size(); ++i)
      if (dx[i].defined()) accumulate(n.in[i], dx[i]);
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
    // An operand that appears twice got its whole cotangent at both places.
    for (size_t i = 0; i < dx.size(); ++i)
      for (size_t k = 0; k < i; ++k)
        if (n.in[i].same_as(n.in[k])) dx[i] = {};
    return dx;
  }

  std::vector<Entry> entries_;
  std::unordered_map<const Node*, size_t> index_;
  std::unordered_set<const Node*> target_nodes_;
};

}  // namespace

Tensors reverse(const Tensors& roots, const Tensors& seeds, const Tensors& targets, bool cut) {
  Walk walk(roots, seeds, targets, cut);
  Tensors out;
  for (const Tensor& t : targets) out.push_back(walk.cotangent(t));
  return out;
}

}  // namespace horngate
