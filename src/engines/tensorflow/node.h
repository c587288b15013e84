// A node of the graph as lowerings see it: attributes by name, types of its operands and results.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "api.h"

namespace horngate::tf {

using Dims = std::vector<int64_t>;

/// Number of elements; an open size (-1) makes it open, unless another size is 0.
inline int64_t count(const Dims& dims) {
  int64_t n = 1;
  bool is_open = false;
  for (int64_t d : dims) {
    if (d < 0)
      is_open = true;
    else
      n *= d;
  }
  return is_open && n != 0 ? -1 : n;
}
inline bool is_open(const Dims& dims) {
  for (int64_t d : dims)
    if (d < 0) return true;
  return false;
}

class Node {
 public:
  Node(const hg_graph& graph, const hg_node& node) : graph_(graph), node_(node) {}

  const char* prim() const { return node_.prim; }
  std::string name() const { return node_.name ? node_.name : ""; }
  uint32_t n_in() const { return node_.n_in; }
  uint32_t n_out() const { return node_.n_out; }
  uint32_t in(uint32_t i) const { return node_.in[i]; }
  uint32_t out(uint32_t i) const { return node_.out[i]; }
  const hg_graph& body(uint32_t i) const { return *node_.body[i]; }
  uint32_t n_body() const { return node_.n_body; }

  const hg_type& in_type(uint32_t i) const { return *graph_.value[node_.in[i]]; }
  const hg_type& out_type(uint32_t i) const { return *graph_.value[node_.out[i]]; }
  Dims in_dims(uint32_t i) const { return dims_of(in_type(i)); }
  Dims out_dims(uint32_t i) const { return dims_of(out_type(i)); }

  /// The integers of an attribute; empty if it is absent.
  Dims ints(const char* key) const {
    const hg_attr* a = find(key, HG_ATTR_I64);
    if (!a) return {};
    const auto* p = static_cast<const int64_t*>(a->data);
    return Dims(p, p + a->n);
  }
  /// The same for an attribute with one entry per axis, `missing` for each if it is absent.
  Dims ints(const char* key, size_t n, int64_t missing) const {
    Dims v = ints(key);
    if (v.empty()) v.assign(n, missing);
    return v;
  }
  int64_t number(const char* key, int64_t missing = 0) const {
    const hg_attr* a = find(key, HG_ATTR_I64);
    return a && a->n ? static_cast<const int64_t*>(a->data)[0] : missing;
  }
  bool flag(const char* key) const { return number(key) != 0; }
  double real(const char* key, double missing = 0) const {
    const hg_attr* a = find(key, HG_ATTR_F64);
    return a && a->n ? static_cast<const double*>(a->data)[0] : missing;
  }
  std::string text(const char* key) const {
    const hg_attr* a = find(key, HG_ATTR_TEXT);
    return a ? std::string(static_cast<const char*>(a->data), a->n) : std::string();
  }
  const hg_buffer* buffer(const char* key) const {
    const hg_attr* a = find(key, HG_ATTR_BUFFER);
    return a ? static_cast<const hg_buffer*>(a->data) : nullptr;
  }

  static Dims dims_of(const hg_type& t) { return Dims(t.dims, t.dims + t.rank); }

 private:
  const hg_attr* find(const char* key, int32_t kind) const {
    for (uint32_t i = 0; i < node_.n_attr; ++i)
      if (node_.attr[i]->kind == kind && std::strcmp(node_.attr[i]->key, key) == 0)
        return node_.attr[i];
    return nullptr;
  }
  const hg_graph& graph_;
  const hg_node& node_;
};

}  // namespace horngate::tf
