// Builders of constants, symbolic shapes and reductions, with the simplifications that every caller wants.
#include "prims/build.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "ir/fold_ints.h"
#include "ir/per_thread.h"

namespace horngate::prim {

Tensor constant(const Array& value, std::string_view name) {
  return emit(attrs::constant{.value = value.contiguous()}, {}, {}, name);
}

Tensor scalar(double value, DType dtype) {
  // Formulas repeat their numbers. Equal ones share the array, which takes more memory than the rest of the node.
  struct Recent {
    uint64_t bits = 0;
    DType dtype = DType::bool_;
    AttrRef attrs;
  };
  thread_local PerThread<std::array<Recent, 8>> recent;
  const auto bits = std::bit_cast<uint64_t>(value);
  Recent& r = (*recent)[(bits * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(dtype)) >> 61];
  if (!r.attrs || r.bits != bits || r.dtype != dtype)
    r = {bits, dtype,
         AttrRef(new AttrsOf<attrs::constant>({.value = Array::full(dtype, {}, value)}))};
  return make_node(Prim::constant, {}, r.attrs);
}

const Array* scalar_constant(const Tensor& t) {
  const Node* node = t.node();
  while (node->prim == Prim::broadcast || node->prim == Prim::expand_dims)
    node = node->in[0].node();
  if (node->prim != Prim::constant) return nullptr;
  const Array& a = node->as<attrs::constant>().value;
  return a.size() == 1 ? &a : nullptr;
}

bool is_scalar_constant(const Tensor& t, double* value) {
  const Array* a = scalar_constant(t);
  if (a && value) *value = a->item<double>();
  return a != nullptr;
}

Tensor full(const SymShape& shape, double value, DType dtype) {
  return broadcast(scalar(value, dtype), shape);
}
Tensor full_like(const Tensor& x, double value) { return full(sym_shape(x), value, x.dtype()); }
Tensor zeros_like(const Tensor& x) { return full_like(x, 0.0); }

Tensor shape_of(const Tensor& x) {
  if (!x.shape().is_static()) return emit(attrs::shape_of{}, {x});
  const Ints& d = x.shape().dims();
  return constant(Array::of<int64_t>(std::span<const int64_t>(d.data(), d.size()),
                                     {static_cast<int64_t>(d.size())}));
}

SymShape sym_shape(const Tensor& x) {
  SymShape s{x.shape().dims(), {}};
  for (int64_t& d : s.dims)
    if (d < 0) d = kFromOperand;
  if (!x.shape().is_static()) s.operand = shape_of(x);
  return s;
}

namespace {

bool ints_of_constant(const Array& a, Ints* out) {
  if (a.ndim() > 1 || a.size() > kMaxFoldedInts || is_float(a.dtype())) return false;
  const Array wide = a.cast(DType::int64);
  out->assign(wide.data<int64_t>(), wide.data<int64_t>() + wide.size());
  return true;
}

/// What known_ints_to made of nodes; t * t asks twice for one. {} if nothing is known.
using Found = std::unordered_map<const Node*, std::optional<Ints>>;

// Shape arithmetic is shallow; the limit is for programs that are not.
bool known_ints_to(const Tensor& t, Ints* out, int depth, Found* found) {
  const Node& node = *t.node();
  if (node.prim == Prim::constant) return ints_of_constant(node.as<attrs::constant>().value, out);
  if (depth == 0 || t.index() != 0 || t.ndim() > 1 || is_float(t.dtype())) return false;
  if (t.ndim() == 1 && (t.shape().dim(0) < 0 || t.shape().dim(0) > kMaxFoldedInts)) return false;
  if (const auto at = found->find(&node); at != found->end()) {
    if (at->second) *out = *at->second;
    return at->second.has_value();
  }
  SmallVec<TensorType, 3> types;
  SmallVec<Ints, 3> values(node.in.size());
  SmallVec<const Ints*, 3> pointers;
  for (size_t i = 0; i < node.in.size(); ++i) {
    types.push_back(type_of(node.in[i]));
    const bool known =
        node.prim != Prim::shape_of && known_ints_to(node.in[i], &values[i], depth - 1, found);
    pointers.push_back(known ? &values[i] : nullptr);
  }
  const bool known = fold_ints(node.prim, node.attrs.get(), {types.data(), types.size()},
                               {pointers.data(), pointers.size()}, out);
  found->emplace(&node, known ? std::optional(*out) : std::nullopt);
  return known;
}

}  // namespace

bool known_ints(const Tensor& t, Ints* out) {
  if (is_float(t.dtype()) || t.ndim() > 1) return false;
  if (t.ndim() == 1 && t.shape().dim(0) < 0) return false;
  Found found;
  if (known_ints_to(t, out, 32, &found)) return true;
  *out = Ints(static_cast<size_t>(t.ndim() ? t.shape().dim(0) : 1), kFromOperand);
  return true;
}

Tensor scale(const Tensor& x, double value) { return mul(x, scalar(value, x.dtype())); }
Tensor shift(const Tensor& x, double value) { return add(x, scalar(value, x.dtype())); }

namespace {

/// A scalar constant made by the K function that is being called: a number, or a step of a gradient. A user's own stays
/// in the graph even if it changes nothing, because gradients with respect to it may be asked for.
bool is_number(const Tensor& t, double* value) {
  if (!is_scalar_constant(t, value)) return false;
  const Node* root = t.node();
  while (root->prim != Prim::constant) root = root->in[0].node();
  const char *by = root->name.function, *now = called_function;
  return by == now || (by && now && std::strcmp(by, now) == 0);
}
bool is_constant(const Tensor& t, double wanted) {
  double v = 0;
  return is_number(t, &v) && v == wanted;
}
/// `x` may replace the result of an operation with `other` if it already has the result's shape.
bool covers(const Tensor& x, const Tensor& other) {
  return other.ndim() == 0 || (x.shape() == other.shape() && x.shape().is_static());
}

/// The node, or something simpler that is equal.
template <class A>
Tensor make(const Tensor& x) {
  return emit(A{}, {x});
}
template <class A>
Tensor make(const Tensor& a, const Tensor& b) {
  return emit(A{}, {a, b});
}
template <>
Tensor make<attrs::add>(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) {
    if (covers(a, b) && is_constant(b, 0)) return a;
    if (covers(b, a) && is_constant(a, 0)) return b;
  }
  return emit(attrs::add{}, {a, b});
}
template <>
Tensor make<attrs::sub>(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype() && covers(a, b) && is_constant(b, 0)) return a;
  return emit(attrs::sub{}, {a, b});
}
template <>
Tensor make<attrs::mul>(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) {
    if (covers(a, b) && is_constant(b, 1)) return a;
    if (covers(b, a) && is_constant(a, 1)) return b;
  }
  return emit(attrs::mul{}, {a, b});
}
template <>
Tensor make<attrs::div>(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype() && covers(a, b) && is_constant(b, 1)) return a;
  return emit(attrs::div{}, {a, b});
}
template <>
Tensor make<attrs::pow>(const Tensor& a, const Tensor& b) {
  double exponent = 0;
  if (a.dtype() == b.dtype() && b.ndim() == 0 && is_number(b, &exponent)) {
    if (exponent == 1) return a;
    if (exponent == 2) return mul(a, a);
    if (exponent == 0.5 && is_float(a.dtype())) return sqrt(a);
  }
  return emit(attrs::pow{}, {a, b});
}

}  // namespace

#define UNARY(name, cost) \
  Tensor name(const Tensor& x) { return make<attrs::name>(x); }
#define BINARY(name, cost) \
  Tensor name(const Tensor& a, const Tensor& b) { return make<attrs::name>(a, b); }
#define PRIM(name, how, attributes)
#include "ir/prims.def"

Tensor stop_gradient(const Tensor& x) { return emit(attrs::stop_gradient{}, {x}); }

Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  // A cast of floats stays, for gradients go through it.
  if (x.node()->prim == Prim::constant && !(is_float(x.dtype()) && is_float(dtype))) {
    const Array& value = x.node()->as<attrs::constant>().value;
    if (value.size() <= kMaxFoldedInts) return constant(value.cast(dtype));
  }
  return emit(attrs::cast{.dtype = dtype}, {x});
}

Tensor widened(const Tensor& x) {
  const bool is_half = x.dtype() == DType::float16 || x.dtype() == DType::bfloat16;
  return is_half ? cast(x, DType::float32) : x;
}

Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return emit(attrs::select{}, {condition, a, b});
}

Ints all_axes(const Tensor& x) {
  Ints axes;
  for (size_t i = 0; i < x.ndim(); ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

Tensor reduce(Prim which, const Tensor& x, Ints axes, bool keepdims) {
  const char* name = primitive(which).name;
  for (int64_t& a : axes) a = normalize_axis(name, a, x.shape());
  std::sort(axes.begin(), axes.end());
  for (size_t i = 1; i < axes.size(); ++i)
    check(axes[i] != axes[i - 1], name, "axis ", axes[i], " is named twice.");
  const bool logical = which == Prim::reduce_any || which == Prim::reduce_all;
  if (axes.empty()) return logical ? cast(x, DType::bool_) : x;
  switch (which) {
    case Prim::reduce_sum: return emit(attrs::reduce_sum{.axes = axes, .keepdims = keepdims}, {x});
    case Prim::reduce_prod:
      return emit(attrs::reduce_prod{.axes = axes, .keepdims = keepdims}, {x});
    case Prim::reduce_max: return emit(attrs::reduce_max{.axes = axes, .keepdims = keepdims}, {x});
    case Prim::reduce_min: return emit(attrs::reduce_min{.axes = axes, .keepdims = keepdims}, {x});
    case Prim::reduce_any: return emit(attrs::reduce_any{.axes = axes, .keepdims = keepdims}, {x});
    default: return emit(attrs::reduce_all{.axes = axes, .keepdims = keepdims}, {x});
  }
}

Tensor reduce_sum(const Tensor& x, Ints axes, bool keepdims) {
  return reduce(Prim::reduce_sum, x, std::move(axes), keepdims);
}
Tensor reduce_max(const Tensor& x, Ints axes, bool keepdims) {
  return reduce(Prim::reduce_max, x, std::move(axes), keepdims);
}
Tensor reduce_mean(const Tensor& x, Ints axes, bool keepdims) {
  const Tensor wide = widened(x);
  const Tensor n = count(wide, axes, wide.dtype());
  const Tensor total = reduce_sum(wide, std::move(axes), keepdims);
  return is_float(x.dtype()) ? cast(div(total, n), x.dtype()) : floordiv(total, n);
}

Tensor count(const Tensor& x, const Ints& axes, DType dtype) {
  int64_t known = 1;
  std::vector<Tensor> open;
  for (int64_t axis : axes) {
    axis = normalize_axis("count", axis, x.shape());
    const int64_t d = x.shape().dim(static_cast<size_t>(axis));
    if (d >= 0)
      known *= d;
    else
      open.push_back(slice_axis(shape_of(x), 0, axis, axis + 1));
  }
  if (open.empty()) return scalar(static_cast<double>(known), dtype);
  Tensor product = open[0];
  for (size_t i = 1; i < open.size(); ++i) product = mul(product, open[i]);
  product = mul(squeeze(product, {0}), constant(Array(known)));
  return cast(product, dtype);
}

Tensor matmul(const Tensor& a, const Tensor& b) { return dot_general(a, b, {}, {}, {1}, {0}); }

Tensor dot_general(const Tensor& a, const Tensor& b, Ints batch_a, Ints batch_b, Ints contract_a,
                   Ints contract_b) {
  return emit(attrs::dot_general{.batch_a = batch_a,
                                 .batch_b = batch_b,
                                 .contract_a = contract_a,
                                 .contract_b = contract_b},
              {a, b});
}

}  // namespace horngate::prim
