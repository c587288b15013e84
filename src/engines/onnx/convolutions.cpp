// conv and its gradients. In float32 by Conv and ConvTranspose; where the runtime has no kernel (float64, more
// than three axes) by products of matrices whose columns are what each tap sees.
#include <algorithm>

#include "windows.h"

namespace horngate::onnx {
namespace {

/// Spatial part of a kernel's shape (spatial.., in / groups, out).
Ints kernel_size(const Ints& kernel) { return Ints(kernel.begin(), kernel.end() - 2); }

bool has_operator(const Value& x, const Windows& w) {
  return x.dtype == HG_FLOAT32 && w.rank() <= 3;
}

bool all_positive(const Ints& list) {
  return std::all_of(list.begin(), list.end(), [](int64_t v) { return v >= 0; });
}

/// (spatial.., in / groups, out) to (out, in / groups, spatial..).
Value kernel_first(Builder& b, const Value& kernel) {
  Ints perm{kernel.rank() - 1, kernel.rank() - 2};
  for (int64_t i = 0; i + 2 < kernel.rank(); ++i) perm.push_back(i);
  return b.transpose(kernel, perm);
}

/// What each output position sees, as matrices per group: (groups, positions, taps * in / groups).
Value columns(Builder& b, const Value& x_last, const Windows& w, const Ints& out, int64_t groups) {
  const Value padded = pad_windows(b, x_last, w, 0);
  std::vector<Value> parts;
  for_each_tap(w, [&](const Ints& t) { parts.push_back(seen_by_tap(b, padded, w, t, out)); });
  const int64_t n = x_last.dims[0].n, c = x_last.dims.back().n;
  int64_t positions = n;
  for (int64_t o : out) positions *= o;
  const auto taps = static_cast<int64_t>(parts.size());
  const Value all = b.concat(parts, x_last.rank() - 1);
  if (groups == 1) return b.reshape(all, {1, positions, taps * c});
  const Value apart = b.reshape(all, {positions, taps, groups, c / groups});
  return b.reshape(b.transpose(apart, {2, 0, 1, 3}), {groups, positions, taps * c / groups});
}

/// A kernel as matrices per group: (groups, taps * in / groups, out / groups).
Value kernel_matrices(Builder& b, const Value& kernel, int64_t groups) {
  const int64_t out = kernel.dims.back().n, rows = count(kernel.dims) / std::max<int64_t>(out, 1);
  const Value apart = b.reshape(kernel, {rows, groups, out / groups});
  return b.transpose(apart, {1, 0, 2});
}

/// (n, out.., c) as matrices per group: (groups, positions, c / groups).
Value position_matrices(Builder& b, const Value& y_last, int64_t groups) {
  const int64_t c = y_last.dims.back().n, positions = count(y_last.dims) / c;
  return b.transpose(b.reshape(y_last, {positions, groups, c / groups}), {1, 0, 2});
}

Value matmul(Builder& b, const Value& x, const Value& y) {
  return b.one("MatMul", {x, y}, x.dtype, {x.dims[0], x.dims[1], y.dims[2]});
}

/// x^T y of one group.
Value gemm_transposed(Builder& b, const Value& x, const Value& y) {
  const Value left = b.reshape(x, {x.dims[1], x.dims[2]}),
              right = b.reshape(y, {y.dims[1], y.dims[2]});
  const Value z = b.one("Gemm", {left, right}, x.dtype, {x.dims[2], y.dims[2]},
                        Attributes().number("transA", 1));
  return b.reshape(z, {1, x.dims[2], y.dims[2]});
}

/// A convolution of nothing gives zeros.
bool convolved_nothing(Op& op) {
  if (!is_empty(op.in[0]) && !is_empty(op.in[1])) return false;
  op.set(0, op.b.full(op.type(0).dtype, op.dims(0), 0));
  return true;
}

void conv(Op& op) {
  Builder& b = op.b;
  if (convolved_nothing(op)) return;
  const Value x = widened(op, 0), kernel = widened(op, 1);
  const Windows w = windows_of(op, kernel_size(numbers(kernel.dims)));
  const int64_t groups = op.number("groups");
  if (has_operator(x, w) && all_positive(w.low) && all_positive(w.high)) {
    const Attributes how =
        window_attributes(w, w.low, w.high).ints("dilations", w.dilation).number("group", groups);
    Value y = b.one("Conv", {to_first(b, x, w.channels_first), kernel_first(b, kernel)}, x.dtype,
                    first_dims(op.dims(0), w.channels_first), how);
    return op.set(0, from_first(b, y, w.channels_first));
  }
  const Ints out = numbers(last_dims(op.dims(0), w.channels_first));
  const Ints places(out.begin() + 1, out.end() - 1);
  const Value seen = columns(b, to_last(b, x, w.channels_first), w, places, groups);
  const Value y = matmul(b, seen, kernel_matrices(b, kernel, groups));
  op.set(0, from_last(b, b.reshape(b.transpose(y, {1, 0, 2}), dims_of(out)), w.channels_first));
}

/// Crops (n, c, spatial..) from `low` on to the wanted sizes, or pads it with zeros; the sizes are known at run
/// time.
Value fit(Builder& b, const Value& x, const Ints& low, const Dims& wanted) {
  Ints none(2, 0), first(2, 0);
  for (int64_t l : low) first.push_back(-l);
  std::vector<Value> pads{b.ints(first), b.ints(none)};
  Dims dims{x.dims[0], x.dims[1]};
  for (size_t i = 0; i < low.size(); ++i) {
    const Value end = b.binary("Add", b.shape({wanted[i]}), b.ints({low[i]}));
    const Value reach = b.shape({b.dim(x, static_cast<int64_t>(i) + 2)});
    pads.push_back(b.binary("Sub", end, reach));
    dims.push_back(wanted[i]);
  }
  return b.one("Pad", {x, b.concat(pads, 0), b.scalar(x.dtype, 0)}, x.dtype, dims);
}

/// ConvTranspose when a spatial size is open.
void open_input_grad(Op& op, const Value& dy, const Value& kernel, const Windows& w) {
  Builder& b = op.b;
  const Dims wanted = last_dims(target_shape(op), w.channels_first);
  const Value from = to_first(b, dy, w.channels_first);
  Dims full(w.rank() + 2, Dim(-1));
  full[0] = from.dims[0];
  full[1] = wanted.back();
  const Ints none(w.rank(), 0);
  const Attributes how = window_attributes(w, none, none)
                             .ints("dilations", w.dilation)
                             .number("group", op.number("groups"));
  const Value dx = b.one("ConvTranspose", {from, kernel_first(b, kernel)}, dy.dtype, full, how);
  const Value cut = fit(b, dx, w.low, Dims(wanted.begin() + 1, wanted.end() - 1));
  op.set(0, from_first(b, cut, w.channels_first));
}

void conv_input_grad(Op& op) {
  Builder& b = op.b;
  if (convolved_nothing(op)) return;
  const Value dy = widened(op, 0), kernel = widened(op, 1);
  const Windows w = windows_of(op, kernel_size(numbers(kernel.dims)));
  const int64_t groups = op.number("groups");
  const Dims wanted = last_dims(op.dims(0), w.channels_first);
  const Dims given = last_dims(dy.dims, w.channels_first);
  bool open = false;
  for (size_t i = 1; i <= w.rank(); ++i) open |= !wanted[i].known() || !given[i].known();
  if (has_operator(dy, w) && open) return open_input_grad(op, dy, kernel, w);
  if (has_operator(dy, w)) {
    const Value from = to_first(b, dy, w.channels_first);
    // The operator gives everything that the windows reach, which is then cropped, or padded with zeros, to the
    // wanted size.
    Ints cut_low(2, 0), cut_high(2, 0), crop_low, crop_high;
    bool fits = true;
    Dims full{from.dims[0], wanted.back()};
    for (size_t i = 0; i < w.rank(); ++i) {
      const Dim &n = wanted[i + 1], &o = from.dims[i + 2];
      const int64_t reach = (o.n - 1) * w.strides[i] + (w.size[i] - 1) * w.dilation[i] + 1;
      crop_low.push_back(w.low[i]);
      crop_high.push_back(reach - w.low[i] - n.n);
      fits &= crop_low.back() >= 0 && crop_high.back() >= 0;
      cut_low.push_back(-crop_low.back());
      cut_high.push_back(-crop_high.back());
      full.push_back(reach);
    }
    const Ints none(w.rank(), 0);
    const Attributes how = window_attributes(w, fits ? crop_low : none, fits ? crop_high : none)
                               .ints("dilations", w.dilation)
                               .number("group", groups);
    Value dx = b.one("ConvTranspose", {from, kernel_first(b, kernel)}, dy.dtype,
                     fits ? first_dims(op.dims(0), w.channels_first) : full, how);
    if (!fits) dx = b.pad(dx, cut_low, cut_high, 0);
    return op.set(0, from_first(b, dx, w.channels_first));
  }
  const Ints shape = numbers(wanted), out = numbers(last_dims(dy.dims, w.channels_first));
  const Value rows = position_matrices(b, to_last(b, dy, w.channels_first), groups);
  const Value back = matmul(b, rows, b.transpose(kernel_matrices(b, kernel, groups), {0, 2, 1}));
  // (groups, positions, taps * in / groups) to an array (n, out.., in) per tap
  const int64_t c = shape.back();
  int64_t taps = 1;
  for (int64_t k : w.size) taps *= k;
  const Value by_tap =
      b.transpose(b.reshape(back, {groups, rows.dims[1], taps, c / groups}), {2, 1, 0, 3});
  Ints one = out;
  one.back() = c;
  std::vector<Value> parts;
  int64_t at = 0;
  for_each_tap(w, [&](const Ints& t) {
    const Value part =
        b.slice(by_tap, {at, 0, 0, 0}, {at + 1, kToEnd, kToEnd, kToEnd}, {1, 1, 1, 1});
    const Value put = put_by_tap(b, b.reshape(part, dims_of(one)), w, t,
                                 Ints(shape.begin() + 1, shape.end() - 1));
    if (!put.name.empty()) parts.push_back(put);
    ++at;
  });
  const Value dx = parts.empty() ? b.full(dy.dtype, dims_of(shape), 0) : sum(b, parts);
  op.set(0, from_last(b, dx, w.channels_first));
}

// One product per group over all positions: what the taps see, transposed, times dy.
void conv_filter_grad(Op& op) {
  Builder& b = op.b;
  if (convolved_nothing(op)) return;
  const Value x = widened(op, 0), dy = widened(op, 1);
  const Ints shape = numbers(op.dims(0));
  const Windows w = windows_of(op, kernel_size(shape));
  const int64_t groups = op.number("groups");
  const Value dy_last = to_last(b, dy, w.channels_first);
  const Value seen = columns(b, to_last(b, x, w.channels_first), w, spatial_of(dy_last), groups);
  const Value rows = position_matrices(b, dy_last, groups);
  const Value dk = groups == 1 && is_float(x.dtype) ? gemm_transposed(b, seen, rows)
                                                    : matmul(b, b.transpose(seen, {0, 2, 1}), rows);
  op.set(0, b.reshape(b.transpose(dk, {1, 0, 2}), dims_of(shape)));
}

}  // namespace

void add_convolutions(Table& t) {
  t["conv"] = conv;
  t["conv_input_grad"] = conv_input_grad;
  t["conv_filter_grad"] = conv_filter_grad;
}

}  // namespace horngate::onnx
