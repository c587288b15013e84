// Arithmetic on shapes. Every result is wrapped into its dtype, as kernels do.
#include "ir/fold_ints.h"

#include <algorithm>

#include "ir/convert_element.h"

namespace horngate {
namespace {

constexpr int64_t kUnknownInt = kFromOperand;

// Integers wrap around, but signed overflow is undefined in C++.
uint64_t bits(int64_t v) { return static_cast<uint64_t>(v); }
int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(bits(a) + bits(b)); }
int64_t subtract(int64_t a, int64_t b) { return static_cast<int64_t>(bits(a) - bits(b)); }
int64_t multiply(int64_t a, int64_t b) { return static_cast<int64_t>(bits(a) * bits(b)); }

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return subtract(0, a);
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t apply(Prim prim, int64_t a, int64_t b) {
  switch (prim) {
    case Prim::add: return add(a, b);
    case Prim::sub: return subtract(a, b);
    case Prim::mul: return multiply(a, b);
    case Prim::floordiv: return floor_div(a, b);
    case Prim::mod: return b == 0 ? 0 : subtract(a, multiply(floor_div(a, b), b));
    case Prim::maximum: return std::max(a, b);
    case Prim::minimum: return std::min(a, b);
    case Prim::eq: return a == b;
    case Prim::ne: return a != b;
    case Prim::lt: return a < b;
    case Prim::le: return a <= b;
    case Prim::gt: return a > b;
    case Prim::ge: return a >= b;
    case Prim::logical_and: return a && b;
    case Prim::logical_or: return a || b;
    default: return kUnknownInt;
  }
}

bool is_binary(Prim prim) {
  return (prim >= Prim::add && prim <= Prim::logical_or && prim != Prim::div && prim != Prim::pow);
}

bool gives_bool(Prim prim) {
  return (prim >= Prim::eq && prim <= Prim::ge) || prim == Prim::logical_and ||
         prim == Prim::logical_or;
}

/// The result dtype of a primitive that fold_ints knows.
DType result_dtype(Prim prim, const Attrs* attrs, std::span<const TensorType> types) {
  if (prim == Prim::cast) return attrs_as<attrs::cast>(attrs).dtype;
  if (prim == Prim::select) return types[1].dtype;
  return gives_bool(prim) ? DType::bool_ : types[0].dtype;
}

/// A uint64 beyond int64 looks negative here, and would be compared and divided as if it were.
bool is_beyond_int64(const TensorType& type, const Ints& values) {
  return type.dtype == DType::uint64 && std::any_of(values.begin(), values.end(), [](int64_t v) {
           return v < 0 && v != kUnknownInt;
         });
}

bool fold_binary(Prim prim, const Ints& a, const Ints& b, Ints* out) {
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return false;
  const size_t n = a.size() == 1 ? b.size() : a.size();
  out->resize(n);
  for (size_t i = 0; i < n; ++i) {
    const int64_t x = a[a.size() == 1 ? 0 : i], y = b[b.size() == 1 ? 0 : i];
    (*out)[i] = x == kUnknownInt || y == kUnknownInt ? kUnknownInt : apply(prim, x, y);
  }
  return true;
}

bool fold_slice(const attrs::slice& a, const Ints& x, Ints* out) {
  if (a.starts.size() != 1 || a.starts[0] == kFromOperand || a.stops[0] == kFromOperand)
    return false;
  const int64_t step = a.steps.empty() ? 1 : a.steps[0];
  const SliceRange range =
      slice_range(static_cast<int64_t>(x.size()), a.starts[0], a.stops[0], step);
  out->clear();
  for (int64_t i = 0; i < range.count; ++i)
    out->push_back(x[static_cast<size_t>(range.start + i * step)]);
  return true;
}

bool fold_reduce(Prim prim, const Ints& x, Ints* out) {
  int64_t total = prim == Prim::reduce_prod ? 1 : 0;
  for (int64_t v : x) {
    if (v == kUnknownInt) {
      *out = {kUnknownInt};
      return true;
    }
    total = prim == Prim::reduce_prod ? multiply(total, v) : add(total, v);
  }
  *out = {total};
  return true;
}

bool fold(Prim prim, const Attrs* attrs, std::span<const TensorType> types,
          std::span<const Ints* const> in, Ints* out) {
  if (prim == Prim::shape_of) {
    *out = types[0].shape.dims();
    for (int64_t& d : *out)
      if (d < 0) d = kUnknownInt;
    return true;
  }
  if (types.empty()) return false;
  for (size_t i = 0; i < in.size(); ++i)
    if (!in[i] || types[i].shape.ndim() > 1 || is_beyond_int64(types[i], *in[i])) return false;
  if (is_binary(prim)) return fold_binary(prim, *in[0], *in[1], out);
  switch (prim) {
    case Prim::cast:
      if (is_float(attrs_as<attrs::cast>(attrs).dtype)) return false;
      [[fallthrough]];
    case Prim::reshape:
    case Prim::expand_dims:
    case Prim::squeeze:
    case Prim::stop_gradient:
    case Prim::after:
      if (in.size() != 1) return false;
      *out = *in[0];
      return true;
    case Prim::neg:
      *out = *in[0];
      for (int64_t& v : *out)
        if (v != kUnknownInt) v = subtract(0, v);
      return true;
    case Prim::concat:
      out->clear();
      for (const Ints* part : in)
        for (int64_t v : *part) out->push_back(v);
      return true;
    case Prim::slice: return fold_slice(attrs_as<attrs::slice>(attrs), *in[0], out);
    case Prim::reduce_prod:
    case Prim::reduce_sum: return fold_reduce(prim, *in[0], out);
    case Prim::gather: {
      out->clear();
      for (int64_t i : *in[1]) {
        if (i < 0 || i >= static_cast<int64_t>(in[0]->size())) return false;
        out->push_back((*in[0])[static_cast<size_t>(i)]);
      }
      return true;
    }
    case Prim::select: {
      const Ints &c = *in[0], &a = *in[1], &b = *in[2];
      if (c.size() != 1 || a.size() != b.size() || c[0] == kUnknownInt) return false;
      *out = c[0] ? a : b;
      return true;
    }
    default: return false;
  }
}

}  // namespace

SliceRange slice_range(int64_t n, int64_t start, int64_t stop, int64_t step) {
  const bool forward = step > 0;
  const int64_t low = forward ? 0 : -1, high = forward ? n : n - 1;
  const auto bound = [&](int64_t i) { return std::clamp(i < 0 ? i + n : i, low, high); };
  const int64_t first = bound(start);
  const int64_t last = stop == kToEnd ? (forward ? n : -1) : bound(stop);
  const int64_t length = forward ? last - first : first - last;
  if (length <= 0) return {first, 0};
  // Negating as unsigned is defined even for the most negative step.
  const uint64_t size = forward ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  return {first, static_cast<int64_t>(static_cast<uint64_t>(length - 1) / size) + 1};
}

bool fold_ints(Prim prim, const Attrs* attrs, std::span<const TensorType> types,
               std::span<const Ints* const> in, Ints* out) {
  if (!fold(prim, attrs, types, in, out)) return false;
  if (prim == Prim::shape_of) return true;
  const DType dtype = result_dtype(prim, attrs, types);
  if (is_float(dtype)) return false;
  for (int64_t& v : *out)
    if (v != kUnknownInt) v = wrap_int(v, dtype);
  return true;
}

}  // namespace horngate
