// Open sizes (HG_CAP_FREE_DIMS): the nodes that most engines can run when a size is known only at run time.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "horngate/engine.h"
#include "primitives.h"

namespace horngate::engines {

inline int open_count(const hg_type& t) {
  return static_cast<int>(std::count_if(t.dims, t.dims + t.rank, [](int64_t d) { return d < 0; }));
}

/// A node with open sizes, and what the rules ask about it.
class OpenNode {
 public:
  OpenNode(const hg_graph& graph, const hg_node& node) : graph_(graph), node_(node) {}

  /// Whether the usual operations can run the node, with at most one size that they cannot work out themselves.
  bool fits() const {
    bool any = false, empty = false;
    const auto look = [&](const hg_type& t) {
      any |= open_count(t) > 0;
      empty |= std::find(t.dims, t.dims + t.rank, 0) != t.dims + t.rank;
    };
    for (uint32_t i = 0; i < node_.n_in; ++i) look(in(i));
    for (uint32_t i = 0; i < node_.n_out; ++i) look(out(i));
    return !any || (!empty && fits_prim(node_.prim));
  }

 private:
  const hg_type& in(uint32_t i) const { return *graph_.value[node_.in[i]]; }
  const hg_type& out(uint32_t i = 0) const { return *graph_.value[node_.out[i]]; }

  /// Primitives to which sizes do not matter, besides element-wise ones and reductions.
  static constexpr std::string_view kOfAnySize[] = {
      "argmax", "argmin",  "cumsum",  "cumprod",     "recurrence",    "transpose", "concat",
      "pad",    "reverse", "softmax", "log_softmax", "stop_gradient", "scan",      "cond"};

  bool fits_prim(std::string_view prim) const {
    if (is_one_of(kElementwise, prim) || is_one_of(kReductions, prim) ||
        is_one_of(kOfAnySize, prim))
      return true;
    if (prim == "reshape") return node_.n_in == 2 || open_count(out()) <= 1;
    if (prim == "expand_dims" || prim == "squeeze") return open_count(out()) <= 1;
    if (prim == "broadcast") return node_.n_in == 2;
    if (prim == "iota") return node_.n_in == 1;
    if (prim == "slice") return slice_fits();
    if (prim == "gather") return in(0).dims[axis(in(0).rank)] >= 0 && open_count(out()) <= 1;
    if (prim == "scatter_add") return open_count(out()) == 0 && open_count(in(1)) <= 1;
    if (prim == "dot_general") return product_fits();
    if (prim == "batch_norm" || prim == "batch_norm_grad") return norm_fits();
    if (prim == "top_k" || prim == "in_top_k")
      return in(0).dims[in(0).rank - 1] >= 0 && open_count(in(0)) <= 1;
    if (prim == "conv" || prim == "conv_input_grad" || prim == "conv_filter_grad" ||
        prim == "pool" || prim == "pool_grad")
      return only_first_open();
    return false;
  }

  struct Numbers {
    const int64_t* data = nullptr;
    uint32_t n = 0;
    bool has(int64_t v) const { return std::find(data, data + n, v) != data + n; }
  };
  Numbers numbers(const char* key) const {
    for (uint32_t i = 0; i < node_.n_attr; ++i)
      if (node_.attr[i]->kind == HG_ATTR_I64 && std::strcmp(node_.attr[i]->key, key) == 0)
        return {static_cast<const int64_t*>(node_.attr[i]->data), node_.attr[i]->n};
    return {};
  }
  int64_t axis(int32_t rank) const {
    const Numbers a = numbers("axis");
    const int64_t v = a.n ? a.data[0] : 0;
    return v < 0 ? v + rank : v;
  }

  /// Along an open axis: all of it, or a known number of elements from a place counted from its start.
  bool slice_fits() const {
    const Numbers starts = numbers("starts"), stops = numbers("stops"), steps = numbers("steps");
    for (int32_t i = 0; i < in(0).rank; ++i) {
      if (in(0).dims[i] >= 0) continue;
      const int64_t step = steps.n ? steps.data[i] : 1;
      const bool whole = starts.data[i] == 0 && stops.data[i] == INT64_MAX && step == 1;
      if (!whole && (out().dims[i] < 0 || starts.data[i] < 0 || step < 1)) return false;
    }
    return node_.n_in == 1;
  }

  /// Of the three sizes (batch, rows, columns) in each operand and the result of a product, one may be open.
  bool product_fits() const {
    const auto open = [&](const hg_type& t, const Numbers& batch, const Numbers& contracted) {
      bool parts[3] = {};
      for (int32_t i = 0; i < t.rank; ++i)
        if (t.dims[i] < 0) parts[batch.has(i) ? 0 : contracted.has(i) ? 1 : 2] = true;
      return parts[0] + parts[1] + parts[2];
    };
    return open(in(0), numbers("batch_a"), numbers("contract_a")) <= 1 &&
           open(in(1), numbers("batch_b"), numbers("contract_b")) <= 1 && open_count(out()) <= 1;
  }

  /// The number of channels is known, and so are all sizes but one.
  bool norm_fits() const {
    const Numbers axes = numbers("axes");
    for (int32_t i = 0; i < in(0).rank; ++i)
      if (in(0).dims[i] < 0 && !axes.has(i)) return false;
    return open_count(in(0)) <= 1;
  }

  bool only_first_open() const {
    const auto fits = [](const hg_type& t) {
      return open_count(t) == 0 || (open_count(t) == 1 && t.dims[0] < 0);
    };
    for (uint32_t i = 0; i < node_.n_in; ++i)
      if (!fits(in(i))) return false;
    return fits(out());
  }

  const hg_graph& graph_;
  const hg_node& node_;
};

}  // namespace horngate::engines
