#include "builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace horngate::onnx {

bool is_static(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& d) { return d.known(); });
}

Ints numbers(const Dims& dims) {
  Ints out;
  for (const Dim& d : dims) {
    if (!d.known()) throw Unsupported("its shape must be known");
    out.push_back(d.n);
  }
  return out;
}

Dims dims_of(const Ints& dims) { return Dims(dims.begin(), dims.end()); }

int64_t count(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : numbers(dims)) n *= d;
  return n;
}

Ints permuted(const Ints& list, const Ints& perm) {
  Ints out;
  for (int64_t p : perm) out.push_back(list[static_cast<size_t>(p)]);
  return out;
}

bool is_float(int32_t dtype) { return dtype <= HG_FLOAT64; }

std::string Builder::unique(std::string_view wish) {
  std::string name(wish);
  for (int n = 1; name.empty() || !names_.insert(name).second; ++n)
    name = std::string(wish) + "_" + std::to_string(n);
  return name;
}

Value Builder::constant(int32_t dtype, const Ints& dims, const void* data, std::string_view name) {
  Value v{name.empty() ? "c" + std::to_string(next_++) : std::string(name), dtype, dims_of(dims)};
  const size_t n = static_cast<size_t>(count(v.dims)) * bytes_of(dtype);
  const std::string_view raw(static_cast<const char*>(data), n);
  initializers_ += Message().message(5, make_tensor(v.name, dtype, dims, n ? raw : "")).data();
  return v;
}

Value Builder::ints(const Ints& values) {
  std::string key = "i";
  for (int64_t v : values) key += std::to_string(v) + ",";
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  return known_[key] = constant(HG_INT64, {static_cast<int64_t>(values.size())}, values.data());
}

namespace {

/// The bits of a bfloat16 or float16; values with too many digits are rounded towards 0.
uint16_t half_bits(int32_t dtype, double value) {
  const float f = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  if (dtype == HG_BFLOAT16) return static_cast<uint16_t>(bits >> 16);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (std::isnan(f)) return sign | 0x7e00;
  if (std::fabs(f) >= 65536) return sign | 0x7c00;
  int exponent;
  const double part = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  if (value == 0 || exponent < -24) return sign;
  if (exponent < -13) return sign | static_cast<uint16_t>(std::ldexp(part, exponent + 24));
  return sign | static_cast<uint16_t>((exponent + 14) << 10 |
                                      (static_cast<int>(std::ldexp(part, 11)) & 0x3ff));
}

template <class T>
std::string raw_of(double value) {
  const T v = static_cast<T>(value);
  return std::string(reinterpret_cast<const char*>(&v), sizeof v);
}

std::string raw_scalar(int32_t dtype, double value) {
  switch (dtype) {
    case HG_FLOAT64: return raw_of<double>(value);
    case HG_FLOAT32: return raw_of<float>(value);
    case HG_FLOAT16:
    case HG_BFLOAT16: return raw_of<uint16_t>(half_bits(dtype, value));
    case HG_INT64: return raw_of<int64_t>(value);
    case HG_UINT64: return raw_of<uint64_t>(value);
    case HG_INT32: return raw_of<int32_t>(value);
    case HG_UINT32: return raw_of<uint32_t>(value);
    case HG_INT16: return raw_of<int16_t>(value);
    case HG_UINT16: return raw_of<uint16_t>(value);
    case HG_INT8: return raw_of<int8_t>(value);
    case HG_UINT8: return raw_of<uint8_t>(value);
    default: return std::string(1, value != 0 ? '\1' : '\0');
  }
}

}  // namespace

Value Builder::scalar(int32_t dtype, double value) {
  const std::string raw = raw_scalar(dtype, value);
  const std::string key = "s" + std::to_string(dtype) + ":" + raw;
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  return known_[key] = constant(dtype, {}, raw.data());
}

Value Builder::full(int32_t dtype, const Dims& dims, double value) {
  if (dims.empty()) return scalar(dtype, value);
  if (is_static(dims) && count(dims) == 0) return constant(dtype, numbers(dims), nullptr);
  return expand(scalar(dtype, value), dims);
}

std::vector<std::string> Builder::emit(std::string_view op, const std::vector<std::string>& in,
                                       size_t n_out, const Attributes& attributes) {
  ++size_;
  std::vector<std::string> out;
  for (size_t i = 0; i < n_out; ++i) out.push_back("t" + std::to_string(next_++));
  const std::string name = label_ + "/" + std::string(op) + "_" + std::to_string(next_++);
  scopes_.back() += Message().message(1, make_node(op, in, out, attributes, name)).data();
  return out;
}

Value Builder::one(std::string_view op, const std::vector<Value>& in, int32_t dtype, Dims dims,
                   const Attributes& attributes) {
  std::vector<std::string> names;
  for (const Value& v : in) names.push_back(v.name);
  return {emit(op, names, 1, attributes)[0], dtype, std::move(dims)};
}

Dims Builder::broadcast(const Dims& a, const Dims& b) const {
  Dims out;
  const size_t rank = std::max(a.size(), b.size());
  for (size_t i = 0; i < rank; ++i) {
    const Dim one(1);
    const Dim& x = i + a.size() < rank ? one : a[i + a.size() - rank];
    const Dim& y = i + b.size() < rank ? one : b[i + b.size() - rank];
    if (x.n == 1)
      out.push_back(y);
    else if (y.n == 1 || x.known())
      out.push_back(x);
    else
      out.push_back(y.known() ? y : Dim(-1));
  }
  return out;
}

Value Builder::binary(std::string_view op, const Value& a, const Value& b,
                      const Attributes& attributes) {
  return one(op, {a, b}, a.dtype, broadcast(a.dims, b.dims), attributes);
}

Value Builder::compare(std::string_view op, const Value& a, const Value& b) {
  return one(op, {a, b}, HG_BOOL, broadcast(a.dims, b.dims));
}

Value Builder::where(const Value& condition, const Value& a, const Value& b) {
  return one("Where", {condition, a, b}, a.dtype,
             broadcast(condition.dims, broadcast(a.dims, b.dims)));
}

namespace {

bool is_signed(int32_t dtype) {
  return dtype == HG_INT8 || dtype == HG_INT16 || dtype == HG_INT32 || dtype == HG_INT64;
}

/// Binary digits, without the sign, of the whole numbers that it holds exactly.
int digits(int32_t dtype) {
  switch (dtype) {
    case HG_BOOL: return 1;
    case HG_BFLOAT16: return 8;
    case HG_FLOAT16: return 11;
    case HG_FLOAT32: return 24;
    case HG_FLOAT64: return 53;
    default: return static_cast<int>(8 * bytes_of(dtype)) - is_signed(dtype);
  }
}

/// Whether `wide` holds every number of the other dtype.
bool holds(int32_t wide, int32_t dtype) {
  if (wide == HG_BOOL || (is_float(dtype) && !is_float(wide))) return false;
  if (is_float(dtype)) return bytes_of(wide) > bytes_of(dtype);
  if (is_signed(dtype) && !is_float(wide) && !is_signed(wide)) return false;
  return digits(wide) >= digits(dtype);
}

/// Whether casting x from `first` to `second` to `third` may give another number than without the second. The runtime
/// keeps a middle dtype that is smaller than both others, such as bool or a half float.
bool needs_second(int32_t first, int32_t second, int32_t third) {
  if (second == HG_BOOL) return false;
  const bool of_floats = is_float(first) && is_float(second) && is_float(third);
  if (of_floats && holds(third, second)) return false;
  const bool turns = !is_float(first) && is_float(second) && !is_float(third);
  return !holds(second, first) || (turns && first != HG_BOOL);
}

}  // namespace

Value Builder::cast(const Value& x, int32_t dtype) {
  if (x.dtype == dtype) return x;
  Value from = x;
  const auto before = cast_from_.find(x.name);
  if (before != cast_from_.end() && needs_second(before->second, x.dtype, dtype))
    from = one("Reshape", {x, ints(Ints(x.dims.size(), 0))}, x.dtype, x.dims);  // 0: unchanged
  const Attributes to = Attributes().number("to", onnx_type(dtype));
  const Value y = one("Cast", {from}, dtype, x.dims, to);
  cast_from_[y.name] = x.dtype;
  return y;
}

Value Builder::reshape(const Value& x, const Dims& dims) {
  if (is_static(dims) && is_static(x.dims) && numbers(dims) == numbers(x.dims)) return x;
  // One size may be left to the operator, as -1; but a 0 next to it would then mean "unchanged".
  size_t left = 0;
  for (const Dim& d : dims) left += !d.known() && d.at.empty();
  const bool has_zero =
      std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return d.n == 0; });
  const auto open =
      std::count_if(dims.begin(), dims.end(), [](const Dim& d) { return !d.known(); });
  if (left > 1 || (left == 1 && has_zero)) throw Unsupported("its shape must be known");
  const bool infers = left == 1 || (open == 1 && !has_zero);
  if (!infers)
    return one("Reshape", {x, shape(dims)}, x.dtype, dims, Attributes().number("allowzero", 1));
  Ints sizes;
  std::vector<Value> parts;
  for (const Dim& d : dims) {
    sizes.push_back(d.n);
    parts.push_back(d.at.empty() ? ints({d.n}) : Value{d.at, HG_INT64, {1}});
  }
  return one("Reshape", {x, open == 1 ? ints(sizes) : concat(parts, 0)}, x.dtype, dims);
}

Value Builder::transpose(const Value& x, const Ints& perm) {
  Dims dims;
  bool moves = false;
  for (size_t i = 0; i < perm.size(); ++i) {
    dims.push_back(x.dims[static_cast<size_t>(perm[i])]);
    moves |= perm[i] != static_cast<int64_t>(i);
  }
  if (!moves) return x;
  const Value y = one("Transpose", {x}, x.dtype, dims, Attributes().ints("perm", perm));
  // The runtime moves Transposes past Casts.
  if (const auto it = cast_from_.find(x.name); it != cast_from_.end())
    cast_from_[y.name] = it->second;
  return y;
}

Value Builder::move_axis(const Value& x, int64_t from, int64_t to) {
  Ints perm;
  for (int64_t i = 0; i < static_cast<int64_t>(x.dims.size()); ++i)
    if (i != from) perm.push_back(i);
  perm.insert(perm.begin() + to, from);
  return transpose(x, perm);
}

Value Builder::expand(const Value& x, const Dims& dims) {
  if (is_static(dims) && is_static(x.dims) && numbers(dims) == numbers(x.dims)) return x;
  if (x.dtype == HG_BFLOAT16)  // the runtime lacks it for this type
    return cast(expand(cast(x, HG_FLOAT32), dims), HG_BFLOAT16);
  return one("Expand", {x, shape(dims)}, x.dtype, dims);
}

Value Builder::slice(const Value& x, const Ints& starts, const Ints& stops, const Ints& steps) {
  Ints from, to, by, axes;
  Dims dims = x.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    Dim& d = dims[i];
    if (d.known() && starts[i] == 0 && stops[i] >= d.n && steps[i] == 1) continue;
    const int64_t stop = d.known() ? std::min(stops[i], d.n) : stops[i];
    from.push_back(starts[i]);
    to.push_back(stop);
    by.push_back(steps[i]);
    axes.push_back(static_cast<int64_t>(i));
    const bool counted = d.known() && starts[i] >= 0 && stop >= 0 && steps[i] > 0;
    d = counted ? Dim(std::max<int64_t>(0, (stop - starts[i] + steps[i] - 1) / steps[i])) : Dim(-1);
  }
  if (axes.empty()) return x;
  return one("Slice", {x, ints(from), ints(to), ints(axes), ints(by)}, x.dtype, dims);
}

// The axes are named, although they could be left out: otherwise the runtime takes zeros around a maximum for the
// padding of the maximum itself, which is -inf (Pad_Fusion). All of them, in order, because it moves Transposes past a
// Pad as if they were not there.
Value Builder::pad(const Value& x, const Ints& low, const Ints& high, double value) {
  Ints pads = low, axes;
  pads.insert(pads.end(), high.begin(), high.end());
  if (std::all_of(pads.begin(), pads.end(), [](int64_t p) { return p == 0; })) return x;
  Dims dims = x.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
    if (low[i] != 0 || high[i] != 0)
      dims[i] = dims[i].known() ? Dim(dims[i].n + low[i] + high[i]) : Dim(-1);
  }
  return one("Pad", {x, ints(pads), scalar(x.dtype, value), ints(axes)}, x.dtype, dims);
}

Value Builder::concat(const std::vector<Value>& parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  Dims dims = parts[0].dims;
  Dim& d = dims[static_cast<size_t>(axis)];
  for (size_t i = 1; i < parts.size(); ++i) {
    const Dim& more = parts[i].dims[static_cast<size_t>(axis)];
    d = d.known() && more.known() ? Dim(d.n + more.n) : Dim(-1);
  }
  return one("Concat", parts, parts[0].dtype, dims, Attributes().number("axis", axis));
}

Value Builder::reduce(std::string_view op, const Value& x, const Ints& axes, bool keepdims) {
  if (axes.empty()) return x;
  Dims dims;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!gone)
      dims.push_back(x.dims[i]);
    else if (keepdims)
      dims.push_back(1);
  }
  return one(op, {x, ints(axes)}, x.dtype, dims, Attributes().number("keepdims", keepdims));
}

Dim Builder::dim(const Value& x, int64_t axis) {
  const Dim& d = x.dims[static_cast<size_t>(axis)];
  if (d.known() || !d.at.empty()) return d;
  const Attributes part = Attributes().number("start", axis).number("end", axis + 1);
  return Dim(emit("Shape", {x.name}, 1, part)[0]);
}

Dims Builder::dims(const Value& x) {
  Dims out;
  for (int64_t i = 0; i < x.rank(); ++i) out.push_back(dim(x, i));
  return out;
}

Dim Builder::product(const Dims& dims) {
  int64_t known = 1;
  std::string open;
  for (const Dim& d : dims) {
    if (d.known())
      known *= d.n;
    else
      open = open.empty() ? d.at : emit("Mul", {open, d.at}, 1)[0];
  }
  if (open.empty() || known == 0) return Dim(known);
  return known == 1 ? Dim(open) : Dim(emit("Mul", {open, ints({known}).name}, 1)[0]);
}

Value Builder::shape(const Dims& dims) {
  if (is_static(dims)) return ints(numbers(dims));
  std::vector<Value> parts;
  for (const Dim& d : dims) {
    if (!d.known() && d.at.empty()) throw Unsupported("its shape must be known");
    parts.push_back(d.known() ? ints({d.n}) : Value{d.at, HG_INT64, {1}});
  }
  return concat(parts, 0);
}

void Builder::rename(const Value& x, const std::string& name) {
  scopes_.back() += Message().message(1, make_node("Identity", {x.name}, {name}, {}, name)).data();
}

void Builder::begin_body() { scopes_.emplace_back(); }

Message Builder::end_body(const std::vector<Value>& inputs, const std::vector<Value>& outputs) {
  // The results of a body must be made by its own nodes.
  std::vector<Value> made;
  for (const Value& v : outputs) made.push_back(unary("Identity", v));
  const auto info = [](const Value& v) {
    Ints dims;
    for (const Dim& d : v.dims) dims.push_back(d.n);
    return make_value_info(v.name, v.dtype, dims);
  };
  std::string fields = scopes_.back();
  scopes_.pop_back();
  fields += Message().bytes(2, "body").data();
  for (const Value& v : inputs) fields += Message().message(11, info(v)).data();
  for (const Value& v : made) fields += Message().message(12, info(v)).data();
  return Message::of(std::move(fields));
}

Message Builder::graph(std::string_view name, const std::vector<Message>& inputs,
                       const std::vector<Message>& outputs) const {
  std::string fields = scopes_.front();
  fields += Message().bytes(2, name).data();
  fields += initializers_;
  for (const Message& m : inputs) fields += Message().message(11, m).data();
  for (const Message& m : outputs) fields += Message().message(12, m).data();
  return Message::of(std::move(fields));
}

}  // namespace horngate::onnx
