// The table of primitives, and what it needs to know about dtypes.
#include "cntk/lower.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace horngate::cntk {

const hg_attr* Attrs::find(const char* key) const {
  for (uint32_t i = 0; i < node_.n_attr; ++i)
    if (std::strcmp(node_.attr[i]->key, key) == 0) return node_.attr[i];
  throw std::runtime_error(std::string(node_.prim) + " lacks its attribute " + key + ".");
}
Dims Attrs::ints(const char* key) const {
  const hg_attr* a = find(key);
  const auto* p = static_cast<const int64_t*>(a->data);
  return Dims(p, p + a->n);
}
double Attrs::real(const char* key) const { return *static_cast<const double*>(find(key)->data); }
std::string Attrs::text(const char* key) const {
  const hg_attr* a = find(key);
  return std::string(static_cast<const char*>(a->data), a->n);
}
int32_t Attrs::dtype(const char* key) const {
  return *static_cast<const int32_t*>(find(key)->data);
}
const hg_buffer* Attrs::buffer(const char* key) const {
  return static_cast<const hg_buffer*>(find(key)->data);
}

bool is_float(int32_t t) { return t <= HG_FLOAT64; }
bool is_unsigned(int32_t t) { return t >= HG_UINT8 && t <= HG_UINT64; }
size_t bytes_of(int32_t t) {
  constexpr uint8_t kBytes[] = {2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  return kBytes[t];
}
int bits_of(int32_t t) { return static_cast<int>(bytes_of(t)) * 8; }

DataType carrier(int32_t t) {
  const bool narrow = t == HG_FLOAT32 || t == HG_BOOL || t == HG_INT8 || t == HG_UINT8;
  return narrow ? DataType::kFloat : DataType::kDouble;
}

Dims dims_of(const hg_type& t) { return Dims(t.dims, t.dims + t.rank); }

namespace {

template <class T>
std::vector<double> widen(const void* data, size_t n) {
  const auto* p = static_cast<const T*>(data);
  return std::vector<double>(p, p + n);
}

bool is_half(int32_t t) { return t == HG_FLOAT16 || t == HG_BFLOAT16; }

/// Whether a CNTK graph can hold the value: not half floats, sparse values or arrays without elements.
bool can_hold(const hg_type& t) {
  if (is_half(t.dtype) || (t.flags & HG_TYPE_SPARSE)) return false;
  for (int32_t i = 0; i < t.rank; ++i)
    if (t.dims[i] <= 0) return false;
  return true;
}

}  // namespace

std::vector<double> numbers(const hg_buffer& b) {
  const auto n = static_cast<size_t>(count(dims_of(*b.type)));
  const void* p = b.data;
  switch (b.type->dtype) {
    case HG_FLOAT32: return widen<float>(p, n);
    case HG_FLOAT64: return widen<double>(p, n);
    case HG_INT8: return widen<int8_t>(p, n);
    case HG_INT16: return widen<int16_t>(p, n);
    case HG_INT32: return widen<int32_t>(p, n);
    case HG_UINT8:
    case HG_BOOL: return widen<uint8_t>(p, n);
    case HG_UINT16: return widen<uint16_t>(p, n);
    case HG_UINT32: return widen<uint32_t>(p, n);
    case HG_INT64: return widen<int64_t>(p, n);  // the largest, "to the end", may be rounded
    case HG_UINT64: return widen<uint64_t>(p, n);
    default: throw std::runtime_error("CNTK does not support this dtype.");
  }
}

const Val& Lowering::value(uint32_t number) {
  Val& v = values[number];
  if (!v.v.fields && consts[number])
    v = b.constant(carrier(type(number).dtype), dims_of(type(number)), numbers(*consts[number]));
  if (!v.v.fields) throw std::runtime_error("a value is read before it is made.");
  return v;
}

Dims LowerCall::out_dims(uint32_t i) const { return dims_of(to.type(node.out[i])); }

void LowerCall::set(uint32_t i, Val v) const { to.values[node.out[i]] = std::move(v); }

const Table& table() {
  static const Table* all = [] {
    auto* t = new Table;
    add_unary(*t);
    add_binary(*t);
    add_reductions(*t);
    add_shapes(*t);
    add_indices(*t);
    add_products(*t);
    add_convolutions(*t);
    add_pools(*t);
    add_networks(*t);
    return t;
  }();
  return *all;
}

static bool is_narrow_or_unsigned(const hg_type& type) {
  switch (type.dtype) {
    case HG_INT8:
    case HG_INT16:
    case HG_UINT8:
    case HG_UINT16:
    case HG_UINT32:
    case HG_UINT64: return true;
    default: return false;
  }
}

/// Integers are carried by float64 here, where nothing wraps around: arithmetic on narrow and unsigned types is
/// left to native.
static bool may_wrap(const hg_graph& g, const hg_node& n) {
  if (!is_narrow_or_unsigned(*g.value[n.out[0]]) &&
      (n.n_in == 0 || g.value[n.in[0]]->dtype != HG_UINT64))
    return false;
  constexpr std::string_view kArithmetic[] = {"cast",       "add",         "sub",    "mul",
                                              "neg",        "pow",         "abs",    "floordiv",
                                              "reduce_sum", "reduce_prod", "cumsum", "cumprod"};
  return std::find(std::begin(kArithmetic), std::end(kArithmetic), n.prim) != std::end(kArithmetic);
}

bool supports(const hg_graph& g, const hg_node& n) {
  if (may_wrap(g, n)) return false;
  for (uint32_t i = 0; i < n.n_in; ++i)
    if (!can_hold(*g.value[n.in[i]])) return false;
  for (uint32_t i = 0; i < n.n_out; ++i)
    if (!can_hold(*g.value[n.out[i]])) return false;
  const auto it = table().find(n.prim);
  return it != table().end() && (!it->second.fits || it->second.fits(g, n));
}

}  // namespace horngate::cntk
