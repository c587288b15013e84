// pool and its gradient.
#include <algorithm>

#include "windows.h"

namespace horngate::onnx {
namespace {

bool pads_are_small(const Windows& w) {
  for (size_t i = 0; i < w.rank(); ++i)
    if (w.low[i] < 0 || w.high[i] < 0 || w.low[i] >= w.size[i] || w.high[i] >= w.size[i])
      return false;
  return w.rank() <= 3;
}

/// One over the number of elements of each window that lie inside, (1, out.., 1).
Value one_over_count(Builder& b, int32_t dtype, const Windows& w, const Ints& spatial,
                     const Ints& out) {
  std::vector<double> inverse{1};
  Ints dims{1};
  for (size_t i = 0; i < w.rank(); ++i) {
    std::vector<double> next;
    for (double before : inverse)
      for (int64_t p = 0; p < out[i]; ++p) {
        const int64_t first = p * w.strides[i] - w.low[i];
        const int64_t inside =
            std::min(first + w.size[i], spatial[i]) - std::max<int64_t>(first, 0);
        next.push_back(before * static_cast<double>(std::max<int64_t>(inside, 0)));
      }
    inverse = std::move(next);
    dims.push_back(out[i]);
  }
  dims.push_back(1);
  for (double& v : inverse) v = 1 / v;
  if (dtype == HG_FLOAT64) return b.constant(HG_FLOAT64, dims, inverse.data());
  const std::vector<float> small(inverse.begin(), inverse.end());
  return b.constant(HG_FLOAT32, dims, small.data());
}

void check_float(const Value& x) {
  if (x.dtype != HG_FLOAT32 && x.dtype != HG_FLOAT64)
    throw Unsupported("it is supported only for floats");
}

void pool(Op& op) {
  Builder& b = op.b;
  const Value x = widened(op, 0);
  check_float(x);
  const Windows w = windows_of(op, op.ints("window"));
  const bool max = op.text("mode") == "max";
  if (!pads_are_small(w)) throw Unsupported("windows outside the data");
  if (max || x.dtype == HG_FLOAT32) {
    const Value y =
        b.one(max ? "MaxPool" : "AveragePool", {to_first(b, x, w.channels_first)}, x.dtype,
              first_dims(op.dims(0), w.channels_first), window_attributes(w, w.low, w.high));
    return op.set(0, from_first(b, y, w.channels_first));
  }
  const Value last = to_last(b, x, w.channels_first), padded = pad_windows(b, last, w, 0);
  const Ints shape = numbers(last_dims(op.dims(0), w.channels_first));
  const Ints out(shape.begin() + 1, shape.end() - 1);
  std::vector<Value> parts;
  for_each_tap(w, [&](const Ints& t) { parts.push_back(seen_by_tap(b, padded, w, t, out)); });
  const Value inverse = one_over_count(b, x.dtype, w, spatial_of(last), out);
  op.set(0, from_last(b, b.binary("Mul", sum(b, parts), inverse), w.channels_first));
}

// max: MaxPool gives the position of each window's first maximum; dy is added there.
void max_grad(Op& op, const Windows& w) {
  Builder& b = op.b;
  Value x = to_first(b, widened(op, 0), w.channels_first);
  const Value dy = to_first(b, widened(op, 2), w.channels_first);
  // The runtime's search starts at the lowest finite number and finds nothing unless it is greater.
  const Value low =
      b.scalar(x.dtype, x.dtype == HG_FLOAT32 ? -3.4028233e38 : -1.797693134862315e308);
  x = b.where(b.compare("Greater", x, low), x, low);
  const auto found = b.emit("MaxPool", {x.name}, 2, window_attributes(w, w.low, w.high));
  const int64_t n = count(x.dims), m = count(dy.dims);
  const Value at = b.reshape({found[1], HG_INT64, dy.dims}, {m});
  const Value dx = b.one("ScatterElements", {b.full(x.dtype, {n}, 0), at, b.reshape(dy, {m})},
                         x.dtype, {n}, Attributes().number("axis", 0).text("reduction", "add"));
  op.set(0, from_first(b, b.reshape(dx, x.dims), w.channels_first));
}

// avg: every tap gets dy / count.
void avg_grad(Op& op, const Windows& w) {
  Builder& b = op.b;
  const Value x = to_last(b, op.in[0], w.channels_first);
  const Value dy = to_last(b, widened(op, 2), w.channels_first);
  const Ints spatial = spatial_of(x);
  const Value share = b.binary("Mul", dy, one_over_count(b, dy.dtype, w, spatial, spatial_of(dy)));
  std::vector<Value> parts;
  for_each_tap(w, [&](const Ints& t) {
    const Value put = put_by_tap(b, share, w, t, spatial);
    if (!put.name.empty()) parts.push_back(put);
  });
  op.set(0, from_last(b, sum(b, parts), w.channels_first));
}

void pool_grad(Op& op) {
  check_float(widened(op, 0));
  const Windows w = windows_of(op, op.ints("window"));
  if (!pads_are_small(w) || !is_static(op.dims(0))) throw Unsupported("windows outside the data");
  if (count(op.in[2].dims) == 0) return op.set(0, op.b.full(op.type(0).dtype, op.dims(0), 0));
  if (op.text("mode") == "max")
    max_grad(op, w);
  else
    avg_grad(op, w);
}

}  // namespace

void add_pools(Table& t) {
  t["pool"] = pool;
  t["pool_grad"] = pool_grad;
}

}  // namespace horngate::onnx
