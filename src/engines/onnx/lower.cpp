// The walk over a graph; the rules are in the other files of this folder, by group.
#include "lower.h"

#include <algorithm>
#include <cstring>

namespace horngate::onnx {
namespace {

const Table& table() {
  static const Table* t = [] {
    auto* made = new Table;
    add_elementwise(*made);
    add_arithmetic(*made);
    add_reductions(*made);
    add_shapes(*made);
    add_indexing(*made);
    add_products(*made);
    add_convolutions(*made);
    add_pools(*made);
    add_normalization(*made);
    add_control(*made);
    return made;
  }();
  return *t;
}

}  // namespace

Value value_of(std::string name, const hg_type& t) {
  if (t.flags & HG_TYPE_SPARSE) throw Unsupported("sparse values are not supported");
  if (!onnx_type(t.dtype)) throw Unsupported("unknown dtype");
  return {std::move(name), t.dtype, Dims(t.dims, t.dims + t.rank)};
}

const hg_attr* Op::find(const char* key) const {
  for (uint32_t i = 0; i < node.n_attr; ++i)
    if (std::strcmp(node.attr[i]->key, key) == 0) return node.attr[i];
  return nullptr;
}

Ints Op::ints(const char* key) const {
  const hg_attr* a = find(key);
  if (!a) return {};
  const auto* p = static_cast<const int64_t*>(a->data);
  return Ints(p, p + a->n);
}

int64_t Op::number(const char* key) const {
  const hg_attr* a = find(key);
  return a ? *static_cast<const int64_t*>(a->data) : 0;
}

double Op::real(const char* key) const {
  const hg_attr* a = find(key);
  return a ? *static_cast<const double*>(a->data) : 0;
}

std::string Op::text(const char* key) const {
  const hg_attr* a = find(key);
  return a ? std::string(static_cast<const char*>(a->data), a->n) : std::string();
}

Dims Op::dims(size_t result) const {
  const hg_type& t = type(result);
  return Dims(t.dims, t.dims + t.rank);
}

void Op::set(size_t result, Value v) {
  v = b.cast(v, type(result).dtype);
  const Dims known = dims(result);
  if (known.size() != v.dims.size())
    throw std::logic_error("rank of a result of " + std::string(node.prim));
  for (size_t i = 0; i < known.size(); ++i)
    if (known[i].known()) v.dims[i] = known[i];
  out[result] = std::move(v);
}

int32_t wide(int32_t dtype) {
  switch (dtype) {
    case HG_FLOAT16:
    case HG_BFLOAT16: return HG_FLOAT32;
    case HG_INT8:
    case HG_INT16:
    case HG_UINT8:
    case HG_UINT16: return HG_INT32;
    case HG_UINT32: return HG_INT64;
    default: return dtype;
  }
}

Value widened(Op& op, size_t operand) {
  return op.b.cast(op.in[operand], wide(op.in[operand].dtype));
}

Value as_signed(Op& op, size_t operand) {
  const Value x = widened(op, operand);
  return x.dtype == HG_UINT64 ? op.b.cast(x, HG_INT64) : x;
}

Value as_ordered(Op& op, size_t operand) {
  const Value x = as_signed(op, operand);
  if (op.in[operand].dtype != HG_UINT64) return x;
  return op.b.binary("Add", x, op.b.scalar(HG_INT64, static_cast<double>(INT64_MIN)));
}

bool is_empty(const Value& v) {
  return std::any_of(v.dims.begin(), v.dims.end(), [](const Dim& d) { return d.n == 0; });
}

void Lowering::lower(const hg_graph& g, const hg_node& n, std::vector<Value>& values) {
  const auto it = table().find(n.prim);
  if (it == table().end()) throw Unsupported(std::string("there is no operator for ") + n.prim);
  Op op{b_, *this, g, n, {}, std::vector<Value>(n.n_out)};
  for (uint32_t i = 0; i < n.n_in; ++i) op.in.push_back(values[n.in[i]]);
  Site site{n.prim, n.name ? n.name : "", 0, 0};
  b_.set_label((n.name ? n.name : n.prim) + std::string("#") + std::to_string(sites_.size()));
  if (op.find("axis")) site.axis = op.number("axis");
  sites_.push_back(site);
  bool empty = n.n_out > 0;
  for (uint32_t i = 0; i < n.n_out; ++i)
    empty &= is_empty(value_of("", op.type(i))) && is_static(op.dims(i));
  // Arrays without elements need no operator, and many operators reject them.
  if (empty)
    for (uint32_t i = 0; i < n.n_out; ++i) op.out[i] = b_.full(op.type(i).dtype, op.dims(i), 0);
  else
    it->second(op);
  for (uint32_t i = 0; i < n.n_out; ++i) values[n.out[i]] = op.out[i];
}

std::vector<Value> Lowering::graph(const hg_graph& g, const std::vector<Value>& inputs) {
  std::vector<Value> values(g.n_value);
  for (uint32_t i = 0; i < g.n_in; ++i) values[g.in[i]] = inputs[i];
  for (uint32_t i = 0; i < g.n_node; ++i) {
    try {
      lower(g, *g.node[i], values);
    } catch (const Unsupported& e) {
      const std::string name = g.node[i]->name ? " \"" + std::string(g.node[i]->name) + "\"" : "";
      throw Unsupported(std::string(g.node[i]->prim) + name + ": " + e.what());
    }
  }
  std::vector<Value> out;
  for (uint32_t i = 0; i < g.n_out; ++i) out.push_back(values[g.out[i]]);
  return out;
}

void Lowering::check(const hg_graph& g, uint32_t node, Aim aim) {
  const hg_node& n = *g.node[node];
  Builder scratch;
  Lowering lowering(scratch, aim);
  std::vector<Value> values(g.n_value);
  for (uint32_t i = 0; i < n.n_in; ++i)
    values[n.in[i]] = value_of("x" + std::to_string(n.in[i]), *g.value[n.in[i]]);
  lowering.lower(g, n, values);
}

}  // namespace horngate::onnx
