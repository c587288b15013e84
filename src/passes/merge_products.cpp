// Products in a loop's body with matrices that are the same in each step:
//   x A, x B, ..        become  x [A B ..] and slices of it
//   x A + y B + ..      becomes [x y ..] [A; B; ..]
// The large matrices are joined once, before the loop.
#include <algorithm>
#include <map>

#include "passes/passes.h"
#include "passes/rewriter.h"
#include "passes/slices.h"

namespace horngate {
namespace {

class ProductMerger {
 public:
  ProductMerger(const Graph& body, const attrs::scan& loop, const std::vector<int64_t>& order)
      : g_(body), loop_(loop) {
    for (size_t i = 0; i < order.size(); ++i) order_[g_.inputs[i]] = order[i];
  }

  Graph run() {
    analyse();
    for (ValueId v : g_.inputs) now_[v] = r_.input(g_.values[v]);
    for (size_t i = 0; i < g_.nodes.size(); ++i) visit(g_.nodes[i]);
    for (ValueId v : g_.outputs) r_.graph.outputs.push_back(now_[v]);
    return remove_dead(std::move(r_.graph));
  }

 private:
  /// x (.., k) times a matrix; `axis` is the contracted axis of the matrix.
  struct Product {
    ValueId x, matrix;
    int64_t axis;
    int64_t order = 0;
  };

  void analyse() {
    now_.assign(g_.values.size(), kNoValue);
    maker_.assign(g_.values.size(), -1);
    uses_.assign(g_.values.size(), 0);
    std::vector<uint8_t> sequence(g_.values.size(), 0);
    varies_.assign(g_.values.size(), 0);
    const auto first_capture = static_cast<size_t>(loop_.xs + loop_.carries);
    for (size_t i = 0; i < g_.inputs.size(); ++i) {
      varies_[g_.inputs[i]] = i < first_capture || i + 1 == g_.inputs.size();
      sequence[g_.inputs[i]] = i < static_cast<size_t>(loop_.xs);
    }
    carried_.assign(g_.values.size(), 0);
    for (size_t i = 0; i < g_.inputs.size(); ++i)
      carried_[g_.inputs[i]] = varies_[g_.inputs[i]] && !sequence[g_.inputs[i]];
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      const GraphNode& n = g_.nodes[i];
      uint8_t varies = (primitive(n.prim).flags & kEffect) != 0, carried = varies;
      for (ValueId v : n.in) {
        ++uses_[v];
        varies |= varies_[v];
        carried |= carried_[v];
      }
      for (ValueId v : n.out) {
        maker_[v] = static_cast<int32_t>(i);
        varies_[v] = varies;
        carried_[v] = carried;
      }
    }
    for (ValueId v : g_.outputs) ++uses_[v];
    // Products of the same x, in node order.
    for (const GraphNode& n : g_.nodes)
      if (const auto p = product_of(n)) families_[{p->x, p->axis}].push_back(&n);
  }

  std::optional<Product> product_of(const GraphNode& n) const {
    if (n.prim != Prim::dot_general) return std::nullopt;
    const auto& a = n.as<attrs::dot_general>();
    const Shape &x = g_.values[n.in[0]].shape, &m = g_.values[n.in[1]].shape;
    const bool plain = a.batch_a.empty() && a.contract_a.size() == 1 && m.ndim() == 2 &&
                       a.contract_a[0] + 1 == static_cast<int64_t>(x.ndim());
    if (!plain || !varies_[n.in[0]] || varies_[n.in[1]]) return std::nullopt;
    return Product{n.in[0], n.in[1], a.contract_b[0], order_of(n.in[1])};
  }

  int64_t order_of(ValueId matrix) const {
    const auto it = order_.find(matrix);
    return it == order_.end() ? 0 : it->second;
  }

  const GraphNode* maker(ValueId v) const {
    return maker_[v] < 0 ? nullptr : &g_.nodes[static_cast<size_t>(maker_[v])];
  }

  void visit(const GraphNode& n) {
    if (n.out.size() == 1 && now_[n.out[0]] != kNoValue) return;
    if (n.prim == Prim::dot_general && merge_family(n)) return;
    const ValueId sum = n.prim == Prim::add ? merge_sum(n) : kNoValue;
    if (sum != kNoValue)
      now_[n.out[0]] = sum;
    else
      r_.copy(g_, n, now_);
  }

  /// Merges all products of one x whose matrices are already known.
  bool merge_family(const GraphNode& n) {
    const auto p = product_of(n);
    if (!p) return false;
    std::vector<const GraphNode*> members;
    for (const GraphNode* m : families_[{p->x, p->axis}])
      if (now_[m->in[1]] != kNoValue && now_[m->out[0]] == kNoValue) members.push_back(m);
    if (members.size() < 2) return false;
    std::stable_sort(members.begin(), members.end(), [&](const GraphNode* a, const GraphNode* b) {
      return order_of(a->in[1]) < order_of(b->in[1]);
    });
    SmallVec<ValueId, 4> matrices;
    for (const GraphNode* m : members) matrices.push_back(now_[m->in[1]]);
    const ValueId all = r_.emit(attrs::concat{.axis = 1 - p->axis}, matrices);
    const ValueId y = r_.emit(n.prim, {now_[p->x], all}, n.attrs);
    const size_t rank = r_.type(y).shape.ndim();
    int64_t at = 0;
    for (const GraphNode* m : members) {
      const int64_t width = g_.values[m->out[0]].shape.dim(rank - 1);
      now_[m->out[0]] = r_.emit(slice_along(rank, {rank - 1, at, at + width}), {y});
      at += width;
    }
    return true;
  }

  /// The sum of two products used only here. If x comes from sequences alone, it is left for hoisting.
  ValueId merge_sum(const GraphNode& n) {
    if (!(g_.values[n.in[0]] == g_.values[n.in[1]]) || n.in[0] == n.in[1]) return kNoValue;
    Product parts[2];
    for (size_t i = 0; i < 2; ++i) {
      const GraphNode* made = r_.maker(now_[n.in[i]]);
      const auto key = sums_.find(n.in[i]);
      if (uses_[n.in[i]] != 1 || !made || made->prim != Prim::dot_general) return kNoValue;
      if (key != sums_.end()) {
        parts[i] = key->second;
        continue;
      }
      const GraphNode* old = maker(n.in[i]);
      const auto p = old ? product_of(*old) : std::nullopt;
      if (!p || !carried_[p->x]) return kNoValue;
      parts[i] = {made->in[0], made->in[1], p->axis, p->order};
    }
    if (parts[1].order < parts[0].order) std::swap(parts[0], parts[1]);
    if (parts[0].axis != parts[1].axis) return kNoValue;
    const auto last = static_cast<int64_t>(r_.type(parts[0].x).shape.ndim()) - 1;
    Product both;
    both.axis = parts[0].axis;
    both.order = parts[0].order;
    both.x = r_.emit(attrs::concat{.axis = last}, {parts[0].x, parts[1].x});
    both.matrix = r_.emit(attrs::concat{.axis = both.axis}, {parts[0].matrix, parts[1].matrix});
    sums_[n.out[0]] = both;
    return r_.emit(
        attrs::dot_general{
            .batch_a = {}, .batch_b = {}, .contract_a = {last}, .contract_b = {both.axis}},
        {both.x, both.matrix});
  }

  const Graph& g_;
  const attrs::scan& loop_;
  Rewriter r_;
  std::vector<ValueId> now_;
  std::vector<int32_t> maker_;
  std::vector<uint32_t> uses_;
  std::vector<uint8_t> varies_, carried_;  // between steps; through more than the sequences
  std::map<std::pair<ValueId, int64_t>, std::vector<const GraphNode*>> families_;
  std::map<ValueId, Product> sums_;
  std::map<ValueId, int64_t> order_;
};

}  // namespace

Graph merge_products(Graph body, const attrs::scan& loop, const std::vector<int64_t>& order) {
  return ProductMerger(body, loop, order).run();
}

}  // namespace horngate
