#include "windows.h"

namespace horngate::onnx {

Windows windows_of(const Op& op, Ints size) {
  Windows w;
  w.size = std::move(size);
  w.strides = op.ints("strides");
  w.low = op.ints("pad_low");
  w.high = op.ints("pad_high");
  w.dilation = op.ints("dilation");
  w.channels_first = op.number("channels_first") != 0;
  if (w.dilation.empty()) w.dilation.assign(w.rank(), 1);
  return w;
}

namespace {

Ints last_to_first(int64_t rank) {
  Ints perm{0, rank - 1};
  for (int64_t i = 1; i + 1 < rank; ++i) perm.push_back(i);
  return perm;
}

Ints first_to_last(int64_t rank) {
  Ints perm{0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

Dims picked(const Dims& dims, const Ints& perm) {
  Dims out;
  for (int64_t p : perm) out.push_back(dims[static_cast<size_t>(p)]);
  return out;
}

}  // namespace

Dims first_dims(const Dims& dims, bool channels_first) {
  return channels_first ? dims : picked(dims, last_to_first(static_cast<int64_t>(dims.size())));
}
Dims last_dims(const Dims& dims, bool channels_first) {
  return channels_first ? picked(dims, first_to_last(static_cast<int64_t>(dims.size()))) : dims;
}

Value to_first(Builder& b, const Value& x, bool channels_first) {
  return channels_first ? x : b.transpose(x, last_to_first(x.rank()));
}
Value to_last(Builder& b, const Value& x, bool channels_first) {
  return channels_first ? b.transpose(x, first_to_last(x.rank())) : x;
}
Value from_first(Builder& b, const Value& x, bool channels_first) {
  return channels_first ? x : b.transpose(x, first_to_last(x.rank()));
}
Value from_last(Builder& b, const Value& x, bool channels_first) {
  return channels_first ? b.transpose(x, last_to_first(x.rank())) : x;
}

Attributes window_attributes(const Windows& w, const Ints& low, const Ints& high) {
  Ints pads = low;
  pads.insert(pads.end(), high.begin(), high.end());
  return Attributes().ints("kernel_shape", w.size).ints("strides", w.strides).ints("pads", pads);
}

void for_each_tap(const Windows& w, const std::function<void(const Ints&)>& f) {
  Ints tap(w.rank(), 0);
  for (;;) {
    f(tap);
    size_t i = w.rank();
    while (i > 0 && ++tap[i - 1] == w.size[i - 1]) tap[--i] = 0;
    if (i == 0) return;
  }
}

Value pad_windows(Builder& b, const Value& x, const Windows& w, double value) {
  Ints low(w.rank() + 2, 0), high = low;
  for (size_t i = 0; i < w.rank(); ++i) {
    low[i + 1] = w.low[i];
    high[i + 1] = w.high[i];
  }
  return b.pad(x, low, high, value);
}

Value seen_by_tap(Builder& b, const Value& padded, const Windows& w, const Ints& tap,
                  const Ints& out) {
  Ints starts(w.rank() + 2, 0), stops(w.rank() + 2, kToEnd), steps(w.rank() + 2, 1);
  for (size_t i = 0; i < w.rank(); ++i) {
    starts[i + 1] = tap[i] * w.dilation[i];
    stops[i + 1] = starts[i + 1] + (out[i] - 1) * w.strides[i] + 1;
    steps[i + 1] = w.strides[i];
  }
  return b.slice(padded, starts, stops, steps);
}

Value put_by_tap(Builder& b, const Value& y, const Windows& w, const Ints& tap,
                 const Ints& spatial) {
  const Ints from = numbers(y.dims);
  Ints apart{from[0]}, gaps{0}, joined{from[0]}, low{0}, high{0};
  bool strided = false;
  for (size_t i = 0; i < w.rank(); ++i) {
    const int64_t n = from[i + 1], s = w.strides[i], first = tap[i] * w.dilation[i] - w.low[i];
    if (first >= spatial[i] || first + (n - 1) * s < 0) return {};
    strided |= s > 1;
    apart.insert(apart.end(), {n, 1});
    gaps.insert(gaps.end(), {0, s - 1});
    joined.push_back(n * s);
    low.push_back(first);
    high.push_back(spatial[i] - first - n * s);
  }
  apart.push_back(from.back());
  gaps.push_back(0);
  joined.push_back(from.back());
  low.push_back(0);
  high.push_back(0);
  Value v = y;
  if (strided) {
    const Value wide = b.pad(b.reshape(v, dims_of(apart)), Ints(gaps.size(), 0), gaps, 0);
    v = b.reshape(wide, dims_of(joined));
  }
  return b.pad(v, low, high, 0);
}

Value sum(Builder& b, const std::vector<Value>& parts) {
  return parts.size() == 1 ? parts[0] : b.one("Sum", parts, parts[0].dtype, parts[0].dims);
}

Ints spatial_of(const Value& x) {
  const Ints all = numbers(x.dims);
  return Ints(all.begin() + 1, all.end() - 1);
}

}  // namespace horngate::onnx
