// The table of lowerings, and the walk over a graph.
#include "lower.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "../common/open_sizes.h"

namespace horngate::tf {
namespace {

constexpr int32_t kMaxRank = 8;  // more axes than many of TensorFlow's kernels take

using Table = std::unordered_map<std::string_view, Lowering>;

const Table& table() {
  static const auto* made = [] {
    auto* t = new Table;
    for (const Lowerings& group :
         {elementwise_lowerings(), reduction_lowerings(), shape_lowerings(), product_lowerings(),
          conv_lowerings(), pool_lowerings(), norm_lowerings(), control_lowerings()})
      for (const Lowering& l : group) t->emplace(l.prim, l);
    return t;
  }();
  return *made;
}

bool is_empty(const hg_type& t) {
  for (int32_t i = 0; i < t.rank; ++i)
    if (t.dims[i] == 0) return true;
  return false;
}

/// Elements of a value; open sizes count as a typical batch.
double elements(const Dims& dims) {
  constexpr double kUsual = 64;
  double n = 1;
  for (int64_t d : dims) n *= d < 0 ? kUsual : static_cast<double>(d);
  return n;
}

}  // namespace

const Lowering* find_lowering(const char* prim) {
  const auto it = table().find(prim);
  return it == table().end() ? nullptr : &it->second;
}

bool can_lower(const hg_graph& graph, const hg_node& node) {
  const Lowering* l = find_lowering(node.prim);
  if (!l || !engines::OpenNode(graph, node).fits()) return false;
  const auto fits = [&](uint32_t v) {
    const hg_type& t = *graph.value[v];
    return t.rank <= kMaxRank && !(t.flags & HG_TYPE_SPARSE);
  };
  for (uint32_t i = 0; i < node.n_in; ++i)
    if (!fits(node.in[i])) return false;
  for (uint32_t i = 0; i < node.n_out; ++i)
    if (!fits(node.out[i])) return false;
  for (uint32_t b = 0; b < node.n_body; ++b)
    for (uint32_t i = 0; i < node.body[b]->n_node; ++i)
      if (!can_lower(*node.body[b], *node.body[b]->node[i])) return false;
  return !l->can || l->can(Node(graph, node));
}

double cost_of(const hg_graph& graph) {
  double cost = 0;
  for (uint32_t i = 0; i < graph.n_node; ++i) cost += cost_of(graph, *graph.node[i]);
  return cost;
}

double cost_of(const hg_graph& graph, const hg_node& node) {
  const Node n(graph, node);
  const std::string_view prim = node.prim;
  double cost = 0;
  for (uint32_t i = 0; i < node.n_out; ++i) cost += elements(n.out_dims(i));
  if (node.n_body > 0) {
    double bodies = 0;
    for (uint32_t b = 0; b < node.n_body; ++b) bodies += cost_of(n.body(b));
    return cost + bodies * static_cast<double>(std::max<int64_t>(n.number("length"), 1));
  }
  if (prim == "dot_general") {
    const Dims a = n.in_dims(0);
    for (int64_t axis : n.ints("contract_a")) cost *= elements({a[static_cast<size_t>(axis)]});
  } else if (prim.substr(0, 4) == "conv") {
    // Each position of the data, channels aside, meets the whole kernel once.
    const Dims kernel = prim == "conv_filter_grad" ? n.out_dims(0) : n.in_dims(1);
    const Dims y = prim == "conv"              ? n.out_dims(0)
                   : prim == "conv_input_grad" ? n.in_dims(0)
                                               : n.in_dims(1);
    const int64_t channels = n.flag("channels_first") ? y[1] : y.back();
    cost += elements(kernel) * elements(y) / static_cast<double>(std::max<int64_t>(channels, 1));
  } else {
    for (uint32_t i = 0; i < node.n_in; ++i) cost += elements(n.in_dims(i));
  }
  return cost;
}

Values lower_graph(Graph& to, const hg_graph& graph, const Values& inputs) {
  Values now(graph.n_value);
  for (uint32_t i = 0; i < graph.n_in; ++i) now[graph.in[i]] = inputs[i];
  for (uint32_t i = 0; i < graph.n_node; ++i) {
    const hg_node& n = *graph.node[i];
    LowerCall call{to, Node(graph, n), {}, {}};
    for (uint32_t k = 0; k < n.n_in; ++k) call.in.push_back(now[n.in[k]]);
    const double cost = to.has_stop() ? cost_of(graph, n) : 0;
    to.begin_work(cost);
    bool all_empty = true;
    for (uint32_t k = 0; k < n.n_out; ++k) all_empty &= is_empty(*graph.value[n.out[k]]);
    if (all_empty) {  // nothing to compute, and some kernels refuse it
      for (uint32_t k = 0; k < n.n_out; ++k)
        call.give(to.constant(call.out_type(k), call.node.out_dims(k), ""));
    } else {
      const Lowering* l = find_lowering(n.prim);
      if (!l)
        throw Error(HG_NOT_IMPLEMENTED,
                    std::string("engine tensorflow: cannot run ") + n.prim + ".");
      l->lower(call);
    }
    for (uint32_t k = 0; k < n.n_out; ++k) now[n.out[k]] = call.out[k];
    to.end_work(cost, call.out[0]);
  }
  Values out;
  for (uint32_t i = 0; i < graph.n_out; ++i) out.push_back(now[graph.out[i]]);
  return out;
}

}  // namespace horngate::tf
