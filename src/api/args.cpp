// Shared argument handling: axes, shapes, dtypes, weak scalars, control dependencies.
#include "api/args.h"

#include <algorithm>
#include <cmath>

#include "horngate/config.h"
#include "ir/per_thread.h"
#include "prims/rules.h"

namespace horngate {

ShapeArg::ShapeArg(const Shape& shape) {
  for (int64_t d : shape.dims()) entries.emplace_back(d);
}

ShapeArg::ShapeArg(const Ints& dims) {
  for (int64_t d : dims) entries.emplace_back(d);
}

Ints axes_of(std::string_view function, const Axis& axis, const Tensor& x) {
  if (axis.all()) return prim::all_axes(x);
  Ints axes;
  for (int64_t a : axis.axes()) axes.push_back(normalize_axis(function, a, x.shape()));
  std::sort(axes.begin(), axes.end());
  for (size_t i = 1; i < axes.size(); ++i)
    check(axes[i] != axes[i - 1], function, "axis must name each axis once; got ", axis.axes(),
          ".");
  return axes;
}

namespace {

/// "(tensor, 3, -1)"; `infer` is shown in place of -1.
std::string entries_text(const std::vector<ShapeArg::Entry>& entries, const char* infer = "-1") {
  std::string out = "(";
  for (size_t i = 0; i < entries.size(); ++i) {
    const int64_t n = entries[i].number;
    if (i) out += ", ";
    out += entries[i].tensor.defined() ? "tensor" : n == kInfer ? infer : std::to_string(n);
  }
  return out + (entries.size() == 1 ? ",)" : ")");
}

bool entry_ok(int64_t n) { return n >= kInfer || n == kFromOperand; }

[[noreturn]] void fail_entry(std::string_view function, std::string_view argument,
                             const std::string& got) {
  fail(function, argument, " must have entries of at least 0, or -1 for what is left; got ", got,
       ".");
}

/// The operand of a symbolic shape is int64.
Tensor shape_operand(std::string_view function, std::string_view argument, const Tensor& t) {
  check<TypeError>(is_int(t.dtype()), function, argument,
                   " must have an integer dtype when it is a tensor; got ", t.dtype(), ".");
  return prim::cast(operand(t), DType::int64);
}

SymShape shape_of_tensor(std::string_view function, std::string_view argument, const Tensor& t) {
  Tensor whole = shape_operand(function, argument, t);
  if (whole.ndim() == 0) whole = prim::expand_dims(whole, {0});
  check(whole.ndim() == 1 && whole.shape().is_static(), function, argument,
        " must be 1-D and of known length when it is a tensor; got shape ", t.shape(), ".");
  SymShape result{{}, whole};
  invariant(prim::known_ints(whole, &result.dims), "the length of a shape is known.");
  for (int64_t n : result.dims)
    if (!entry_ok(n)) fail_entry(function, argument, rules::shape_text(result.dims));
  if (!rules::from_operand(result.dims)) result.operand = {};
  return result;
}

Tensor entry_operand(std::string_view function, std::string_view argument, const Tensor& t) {
  const Tensor wide = shape_operand(function, argument, t);
  if (t.ndim() == 0) return prim::expand_dims(wide, {0});
  check(t.ndim() == 1 && t.shape().dim(0) == 1, function, argument,
        " must have scalars as its entries; got a tensor of shape ", t.shape(), " among them.");
  return wide;
}

SymShape shape_of_entries(std::string_view function, std::string_view argument,
                          const std::vector<ShapeArg::Entry>& entries) {
  SymShape result;
  Tensors parts;
  for (const ShapeArg::Entry& e : entries) {
    Ints known{e.number};
    if (e.tensor.defined()) {
      parts.push_back(entry_operand(function, argument, e.tensor));
      prim::known_ints(parts.back(), &known);
    } else {
      parts.push_back(prim::constant(Array::of<int64_t>({e.number})));
    }
    const bool open = e.tensor.defined() && known[0] == kFromOperand;
    if (known[0] < kInfer && !open) fail_entry(function, argument, entries_text(entries));
    result.dims.push_back(known[0]);
  }
  if (rules::from_operand(result.dims)) result.operand = prim::concat(parts, 0);
  return result;
}

}  // namespace

SymShape sym_shape_of(std::string_view function, const ShapeArg& shape, std::string_view argument) {
  if (shape.whole.defined()) return shape_of_tensor(function, argument, shape.whole);
  // {t} with a 1-D tensor means the whole shape, just like t alone.
  if (shape.entries.size() == 1 && shape.entries[0].tensor.defined())
    return shape_of_tensor(function, argument, shape.entries[0].tensor);
  bool numbers = true;
  for (const ShapeArg::Entry& e : shape.entries) numbers &= !e.tensor.defined();
  if (!numbers) return shape_of_entries(function, argument, shape.entries);
  SymShape result;
  for (const ShapeArg::Entry& e : shape.entries) {
    if (e.number < kInfer) fail_entry(function, argument, entries_text(shape.entries));
    result.dims.push_back(e.number);
  }
  return result;
}

SymShape full_shape_of(std::string_view function, const ShapeArg& shape,
                       std::string_view argument) {
  SymShape result = sym_shape_of(function, shape, argument);
  if (std::find(result.dims.begin(), result.dims.end(), kInfer) != result.dims.end())
    fail(function, argument, " must have entries of at least 0, and no None; got ",
         shape.whole.defined() ? rules::shape_text(result.dims)
                               : entries_text(shape.entries, "None"),
         ".");
  return result;
}

namespace {

DType signed_int_of(size_t bytes) {
  switch (bytes) {
    case 1: return DType::int8;
    case 2: return DType::int16;
    case 4: return DType::int32;
    default: return DType::int64;
  }
}

}  // namespace

DType common_dtype(DType a, DType b) {
  if (a == b || b == DType::bool_) return a;
  if (a == DType::bool_) return b;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  const size_t na = size_of(a), nb = size_of(b);
  if (is_float(a)) {
    // float16 and bfloat16 each hold numbers that the other cannot.
    if (na == nb) return DType::float32;
    return na > nb ? a : b;
  }
  if (is_signed_int(a) == is_signed_int(b)) return na > nb ? a : b;
  const size_t of_signed = is_signed_int(a) ? na : nb, of_unsigned = is_signed_int(a) ? nb : na;
  return signed_int_of(std::max(of_signed, 2 * of_unsigned));
}

void unify(std::string_view, Tensor* a, Tensor* b) {
  const DType dtype = common_dtype(a->dtype(), b->dtype());
  *a = prim::cast(*a, dtype);
  *b = prim::cast(*b, dtype);
}

void unify(std::string_view, Tensors* tensors) {
  if (tensors->empty()) return;
  DType dtype = tensors->front().dtype();
  for (const Tensor& t : *tensors) dtype = common_dtype(dtype, t.dtype());
  for (Tensor& t : *tensors) t = prim::cast(t, dtype);
}

bool holds(DType integer, double value) {
  if (!std::isfinite(value) || value != std::trunc(value)) return false;
  const bool has_sign = is_signed_int(integer);
  const double limit = std::ldexp(1.0, 8 * static_cast<int>(size_of(integer)) - has_sign);
  return value < limit && value >= (has_sign ? -limit : 0.0);
}

Tensor weak_scalar(double value, Tensor* beside) {
  DType dtype = beside->dtype();
  if (dtype == DType::bool_)
    dtype = floatx();
  else if (is_int(dtype) && !holds(dtype, value))
    dtype = holds(DType::int64, value) ? DType::int64 : floatx();
  *beside = prim::cast(*beside, dtype);
  return prim::scalar(value, dtype);
}

Tensor parameter_of(std::string_view function, const Number& parameter, DType dtype,
                    std::string_view argument) {
  check<TypeError>(!parameter.is_none(), function, argument,
                   " must be a number or a tensor; got None.");
  if (parameter.is_number()) return prim::scalar(parameter.value(), dtype);
  return prim::cast(dense_operand(function, parameter.tensor(), argument), dtype);
}

namespace {

/// The scopes open on this thread: their updates in one list, and where each scope begins in it.
struct ControlScopes {
  Tensors updates;
  std::vector<size_t> begins;
};
thread_local PerThread<ControlScopes> control;

}  // namespace

Tensor operand(const Tensor& x) {
  if (control->updates.empty() || !x.defined()) return x;
  if (x.node()->prim != Prim::variable || x.is_sparse()) return x;
  SmallVec<Tensor, 2> in{x};
  for (const Tensor& update : control->updates) in.push_back(update);
  return emit(attrs::after{}, std::move(in));
}

void push_control_dependencies(Tensors updates) {
  for (const Tensor& update : updates)
    check<TypeError>(update.defined(), "control_dependencies",
                     "updates must be tensors; got an empty one.");
  control->begins.push_back(control->updates.size());
  for (Tensor& update : updates) control->updates.push_back(std::move(update));
}

void pop_control_dependencies() {
  invariant(!control->begins.empty(), "no control_dependencies scope is open on this thread.");
  control->updates.resize(control->begins.back());
  control->begins.pop_back();
}

const Tensors& control_updates() { return control->updates; }

Tensor own(const CalledAs& called, Tensor result) {
  const bool is_number = result.node()->prim == Prim::constant && !is_float(result.dtype());
  if (is_number || !called.has_met(result.node()->id)) return result;
  return emit(attrs::after{}, {std::move(result)});
}

Tensor dense_operand(std::string_view function, const Tensor& x, std::string_view argument) {
  check<TypeError>(x.defined(), function, argument,
                   " must be a tensor; got an empty one (gradients returns one where nothing "
                   "connects).");
  check<TypeError>(!x.is_sparse(), function, argument,
                   " must be dense; got a sparse tensor of shape ", x.shape(),
                   ". Convert it with to_dense.");
  return operand(x);
}

Tensor numeric_operand(std::string_view function, const Tensor& x, std::string_view argument) {
  const Tensor t = dense_operand(function, x, argument);
  return t.dtype() == DType::bool_ ? prim::cast(t, floatx()) : t;
}

Tensor float_operand(std::string_view function, const Tensor& x, std::string_view argument) {
  const Tensor t = dense_operand(function, x, argument);
  return is_float(t.dtype()) ? t : prim::cast(t, floatx());
}

Tensor index_operand(std::string_view function, const Tensor& x, std::string_view argument) {
  const Tensor t = dense_operand(function, x, argument);
  const DType from = t.dtype();
  check<TypeError>(is_int(from), function, argument, " must have an integer dtype; got ", from,
                   ".");
  if (from == DType::int32 || from == DType::int64) return t;
  return prim::cast(t, size_of(from) < 4 ? DType::int32 : DType::int64);
}

void check_broadcast(std::string_view function, const Tensor& a, const Tensor& b) {
  const Shape &sa = a.shape(), &sb = b.shape();
  for (size_t i = 1; i <= std::min(sa.ndim(), sb.ndim()); ++i)
    check(rules::broadcast_dim(sa.dim(sa.ndim() - i), sb.dim(sb.ndim() - i)) != rules::kConflict,
          function, "shapes ", sa, " and ", sb, " do not broadcast together.");
}

}  // namespace horngate
