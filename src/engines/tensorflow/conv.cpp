// Convolution and its two gradients.
//
// Groups of one channel are TensorFlow's depthwise convolution; other groups are split into plain ones. Where
// TensorFlow has no dilation, every d-th element becomes a separate sample or, if there are strides too, the kernel
// gets zeros between its taps. Where it has no free margins, the data is padded with zeros.
#include <algorithm>

#include "window.h"

namespace horngate::tf {
namespace {

/// A convolution in TensorFlow's form: channels last, two or three spatial axes, no dilation of its own.
struct Geometry {
  Layout layout;
  Dims strides, low, high, dilation;  // one entry per spatial axis of TensorFlow's form
  int64_t groups;
  Dims x, kernel, y;  // dimensions in TensorFlow's form; the kernel with its zeros
  Type type;          // the type it is computed in

  bool is_depthwise() const {
    const bool equal =
        std::all_of(strides.begin(), strides.end(), [&](int64_t s) { return s == strides[0]; });
    return groups > 1 && !layout.is_3d() && kernel[kernel.size() - 2] == 1 && equal;
  }
  Dims taps() const { return Dims(kernel.begin(), kernel.end() - 2); }
};

Geometry geometry_of(const Node& n, const Dims& x, const Dims& kernel, const Dims& y, Type type) {
  Geometry g;
  const size_t axes = x.size() - 2;
  g.layout = {axes, n.flag("channels_first")};
  const Dims strides = n.ints("strides", axes, 1);
  // The additional axis of 1-D data has one element, so any stride will do; TensorFlow wants equal ones.
  g.strides = g.layout.widen(strides, strides[0]);
  g.low = g.layout.widen(n.ints("pad_low", axes, 0), 0);
  g.high = g.layout.widen(n.ints("pad_high", axes, 0), 0);
  g.dilation = g.layout.widen(n.ints("dilation", axes, 1), 1);
  g.groups = n.number("groups", 1);
  g.x = g.layout.dims(x);
  g.y = g.layout.dims(y);
  g.kernel = kernel;
  if (axes == 1) g.kernel.insert(g.kernel.begin(), 1);
  for (size_t i = 0; i < g.dilation.size(); ++i)
    g.kernel[i] = (g.kernel[i] - 1) * g.dilation[i] + 1;
  g.type = wide_type(type);
  return g;
}

/// Only the plain 2-D convolution can dilate by itself.
bool dilates_itself(const Geometry& geo) { return !geo.layout.is_3d() && geo.groups == 1; }

bool is_dilated(const Geometry& geo) {
  return std::any_of(geo.dilation.begin(), geo.dilation.end(), [](int64_t d) { return d > 1; });
}

/// A dilated convolution as a plain one on samples of every d-th element. (Zeros between the taps would turn infinities
/// that no tap meets into NaN.) Not with strides, which would need different elements for each sample.
struct Apart {
  Dims block, low, high,
      cut;  // one entry per spatial axis: d, margins of x, and the surplus at the end of y

  static bool fits(const Geometry& geo) {
    if (!is_dilated(geo)) return false;
    for (size_t i = 0; i < geo.dilation.size(); ++i)
      if (geo.strides[i] != 1 || geo.x[i + 1] < 0 || geo.low[i] < 0 || geo.high[i] < 0)
        return false;
    return true;
  }
  explicit Apart(const Geometry& geo) : block(geo.dilation), low(geo.low), high(geo.high) {
    for (size_t i = 0; i < block.size(); ++i) {
      const int64_t n = geo.x[i + 1] + low[i] + high[i];
      cut.push_back((block[i] - n % block[i]) % block[i]);
      high[i] += cut[i];
    }
  }
  /// The plain convolution of the samples.
  Geometry plain(const Geometry& geo) const {
    Geometry r = geo;
    int64_t samples = 1;
    for (size_t i = 0; i < block.size(); ++i) {
      samples *= block[i];
      r.x[i + 1] = (geo.x[i + 1] + low[i] + high[i]) / block[i];
      r.kernel[i] = (geo.kernel[i] - 1) / block[i] + 1;
      r.y[i + 1] = r.x[i + 1] - r.kernel[i] + 1;
      r.low[i] = r.high[i] = 0;
      r.dilation[i] = 1;
    }
    for (Dims* d : {&r.x, &r.y})
      if ((*d)[0] >= 0) (*d)[0] *= samples;
    return r;
  }
  Value to_samples(Graph& g, const Value& v, const Dims& before, const Dims& after,
                   const Dims& dims) const {
    return move(g, "SpaceToBatchND", "paddings", v, before, after, dims);
  }
  Value from_samples(Graph& g, const Value& v, const Dims& before, const Dims& after,
                     const Dims& dims) const {
    return move(g, "BatchToSpaceND", "crops", v, before, after, dims);
  }

 private:
  Value move(Graph& g, const char* op, const char* what, const Value& v, const Dims& before,
             const Dims& after, const Dims& dims) const {
    Dims sides;
    for (size_t i = 0; i < block.size(); ++i) {
      sides.push_back(before[i]);
      sides.push_back(after[i]);
    }
    const Value at = g.constant(kInt64, {static_cast<int64_t>(block.size()), 2}, sides.data());
    return g.op(op)
        .in(v)
        .in(g.ints(block, kInt64))
        .in(at)
        .type("T", v.type)
        .type("Tblock_shape", kInt64)
        .type(std::string("T").append(what).c_str(), kInt64)
        .value(v.type, dims);
  }
};

/// Puts zeros between the taps: each axis (k) becomes (k, d), padded and cut to (k - 1) d + 1.
Value dilate(Graph& g, Value k, const Dims& dilation) {
  for (size_t i = 0; i < dilation.size(); ++i) {
    const int64_t d = dilation[i], taps = k.dims[i];
    if (d == 1 || taps == 1) continue;
    Dims split = k.dims;
    split.insert(split.begin() + static_cast<int64_t>(i) + 1, 1);
    Dims none(split.size(), 0), after = none;
    after[i + 1] = d - 1;
    const Value spread = g.pad(g.reshape(k, split), none, after, g.scalar(k.type, 0));
    Dims whole = k.dims, wanted = k.dims;
    whole[i] = taps * d;
    wanted[i] = (taps - 1) * d + 1;
    k = g.slice(g.reshape(spread, whole), Dims(whole.size(), 0), wanted, Dims(whole.size(), 1));
  }
  return k;
}

/// The taps of a kernel that has zeros between them.
Value undilate(Graph& g, const Value& k, const Dims& dilation) {
  Dims counts = k.dims, steps(k.rank(), 1);
  for (size_t i = 0; i < dilation.size(); ++i) {
    counts[i] = (k.dims[i] - 1) / dilation[i] + 1;
    steps[i] = dilation[i];
  }
  return g.slice(k, Dims(k.rank(), 0), counts, steps);
}

/// Attributes that all of TensorFlow's convolutions take.
Graph::Op& describe(Graph::Op& op, const Geometry& geo, Margin margin) {
  op.type("T", geo.type).numbers("strides", framed(geo.strides, 1));
  op.text("data_format", geo.layout.is_3d() ? "NDHWC" : "NHWC");
  if (margin == Margin::kOther) {
    Dims sides{0, 0};
    for (size_t i = 0; i < geo.low.size(); ++i) {
      sides.push_back(geo.low[i]);
      sides.push_back(geo.high[i]);
    }
    sides.push_back(0);
    sides.push_back(0);
    op.text("padding", "EXPLICIT").numbers("explicit_paddings", sides);
  } else {
    op.text("padding", margin == Margin::kSame ? "SAME" : "VALID");
  }
  return op;
}

Margin margin(const Geometry& geo) {
  const Dims n(geo.x.begin() + 1, geo.x.end() - 1);
  const Margin m = margin_of(n, geo.taps(), geo.strides, geo.low, geo.high);
  if (!geo.layout.is_3d() || m != Margin::kSame) return m;
  // If the windows leave elements out, the 3-D kernels for float64 centre the windows.
  for (size_t i = 0; i < n.size(); ++i)
    if ((geo.y[i + 1] - 1) * geo.strides[i] + geo.kernel[i] < n[i]) return Margin::kOther;
  return m;
}

/// 3-D operations have no free margins: x is padded, or its gradient cropped.
Geometry without_margin(const Geometry& geo) {
  Geometry r = geo;
  for (size_t i = 0; i < r.low.size(); ++i) {
    r.x[i + 1] += r.low[i] + r.high[i];
    r.low[i] = r.high[i] = 0;
  }
  return r;
}

Value padded(Graph& g, const Geometry& geo, const Value& x) {
  return g.pad(x, framed(geo.low, 0), framed(geo.high, 0), g.scalar(x.type, 0));
}

Dims depthwise_kernel(const Geometry& geo) {
  Dims k = geo.taps();
  k.push_back(geo.groups);
  k.push_back(geo.kernel.back() / geo.groups);
  return k;
}

/// If an axis has a single window, its stride does not matter. A stride of (1, s) with one column of results and one
/// channel leaves rows unwritten in TensorFlow's oneDNN kernels, so x is cropped to the window and the stride becomes
/// 1.
Value cut_to_one_window(Graph& g, Geometry& geo, const Value& x) {
  Dims counts = x.dims;
  for (size_t i = 0; i < geo.strides.size(); ++i) {
    if (geo.y[i + 1] != 1 || geo.strides[i] == 1) continue;
    const int64_t reach = geo.kernel[i] - geo.low[i];
    counts[i + 1] = geo.x[i + 1] = std::min(geo.x[i + 1], reach);
    geo.high[i] = reach - geo.x[i + 1];
    geo.strides[i] = 1;
  }
  return g.slice(x, Dims(x.rank(), 0), counts, Dims(x.rank(), 1));
}

Value forward(Graph& g, const Geometry& whole, const Value& data, const Value& kernel) {
  if (Apart::fits(whole) && !dilates_itself(whole)) {
    const Apart apart(whole);
    const Geometry plain = apart.plain(whole);
    const Value y =
        forward(g, plain, apart.to_samples(g, data, apart.low, apart.high, plain.x), kernel);
    return apart.from_samples(g, y, Dims(apart.cut.size(), 0), apart.cut, whole.y);
  }
  Geometry geo = whole;
  const Value x = geo.is_depthwise() ? data : cut_to_one_window(g, geo, data);
  const Margin around = margin(geo);
  if (geo.is_depthwise()) {
    const Value k = g.reshape(kernel, depthwise_kernel(geo));
    auto op = g.op("DepthwiseConv2dNative").in(x).in(k);
    return describe(op, geo, around).value(geo.type, geo.y);
  }
  if (geo.layout.is_3d() && around == Margin::kOther)
    return forward(g, without_margin(geo), padded(g, geo, x), kernel);
  auto op = g.op(geo.layout.is_3d() ? "Conv3D" : "Conv2D").in(x).in(kernel);
  if (kernel.dims != geo.kernel) op.numbers("dilations", framed(geo.dilation, 1));
  return describe(op, geo, around).value(geo.type, geo.y);
}

Value input_grad(Graph& g, const Geometry& geo, const Value& dy, const Value& kernel) {
  if (Apart::fits(geo)) {
    const Apart apart(geo);
    const Geometry plain = apart.plain(geo);
    const Value to = apart.to_samples(g, dy, Dims(apart.cut.size(), 0), apart.cut, plain.y);
    return apart.from_samples(g, input_grad(g, plain, to, kernel), apart.low, apart.high, geo.x);
  }
  const Margin around = margin(geo);
  if (geo.is_depthwise()) {
    const Value k = g.reshape(kernel, depthwise_kernel(geo));
    auto op = g.op("DepthwiseConv2dNativeBackpropInput").in(g.sizes(geo.x, dy)).in(k).in(dy);
    return describe(op, geo, around).value(geo.type, geo.x);
  }
  if (geo.layout.is_3d() && around == Margin::kOther) {
    const Value whole = input_grad(g, without_margin(geo), dy, kernel);
    return g.slice(whole, framed(geo.low, 0), geo.x, Dims(whole.rank(), 1));
  }
  auto op = g.op(geo.layout.is_3d() ? "Conv3DBackpropInputV2" : "Conv2DBackpropInput")
                .in(g.sizes(geo.x, dy))
                .in(kernel)
                .in(dy);
  if (geo.layout.is_3d()) op.type("Tshape", kInt32);
  return describe(op, geo, around).value(geo.type, geo.x);
}

/// 3-D filter gradients that TensorFlow's oneDNN code gets wrong, or writes past the end of, unless x is padded first:
/// windows as long as a padded image, or several of them that begin in the padding of depth.
bool needs_padded(const Geometry& geo) {
  for (size_t i = 0; i < 3; ++i)
    if (std::max(geo.low[i], geo.high[i]) > 0 && geo.kernel[i] >= geo.x[i + 1]) return true;
  return geo.strides[0] > 1 && std::max(geo.low[0], geo.high[0]) >= geo.strides[0];
}

Value filter_grad(Graph& g, const Geometry& geo, const Value& x, const Value& dy) {
  const Margin around = margin(geo);
  if (geo.is_depthwise()) {
    const Dims k = depthwise_kernel(geo);
    auto op = g.op("DepthwiseConv2dNativeBackpropFilter").in(x).in(g.ints(k)).in(dy);
    return g.reshape(describe(op, geo, around).value(geo.type, k), geo.kernel);
  }
  if (geo.layout.is_3d() &&
      (around == Margin::kOther || (around == Margin::kSame && needs_padded(geo))))
    return filter_grad(g, without_margin(geo), padded(g, geo, x), dy);
  auto op = g.op(geo.layout.is_3d() ? "Conv3DBackpropFilterV2" : "Conv2DBackpropFilter")
                .in(x)
                .in(g.ints(geo.kernel))
                .in(dy);
  return describe(op, geo, around).value(geo.type, geo.kernel);
}

/// Channels [i n, (i + 1) n) of the last axis.
Value part(Graph& g, const Value& v, int64_t i, int64_t n) {
  Dims starts(v.rank(), 0), counts = v.dims;
  starts.back() = i * n;
  counts.back() = n;
  return g.slice(v, starts, counts, Dims(v.rank(), 1));
}

using Step = Value (*)(Graph&, const Geometry&, const Value&, const Value&);

/// Runs a step for each group: `a` and `b` are split along their last axis, and so is the result.
Value grouped(Graph& g, const Geometry& geo, const Value& a, const Value& b, Step step) {
  if (geo.groups == 1 || geo.is_depthwise()) return step(g, geo, a, b);
  Geometry one = geo;
  one.groups = 1;
  one.x.back() /= geo.groups;
  one.y.back() /= geo.groups;
  one.kernel.back() /= geo.groups;
  Values parts;
  for (int64_t i = 0; i < geo.groups; ++i)
    parts.push_back(step(g, one, part(g, a, i, a.dims.back() / geo.groups),
                         part(g, b, i, b.dims.back() / geo.groups)));
  return g.concat(parts, static_cast<int64_t>(a.rank()) - 1);
}

bool is_empty(const Value& v) { return count(v.dims) == 0; }

Value kernel_of(Graph& g, const Geometry& geo, const Value& k, bool dilated) {
  const Value wide = g.cast(k, geo.type);
  Dims dims = k.dims;
  if (geo.layout.axes == 1) dims.insert(dims.begin(), 1);
  const Value plain = g.reshape(wide, dims);
  return dilated ? dilate(g, plain, geo.dilation) : plain;
}

void conv(LowerCall& c) {
  Graph& g = c.graph;
  const Value &x = c.in[0], &k = c.in[1];
  const Geometry geo = geometry_of(c.node, x.dims, k.dims, c.node.out_dims(0), x.type);
  if (is_empty(x) || is_empty(k)) return c.give(g.zeros(x.type, c.node.out_dims(0)));
  const Value y = grouped(g, geo, geo.layout.data(g, g.cast(x, geo.type)),
                          kernel_of(g, geo, k, !dilates_itself(geo) && !Apart::fits(geo)), forward);
  c.give(g.cast(geo.layout.back(g, y, c.node.out_dims(0)), x.type));
}

void conv_input_grad(LowerCall& c) {
  Graph& g = c.graph;
  const Value &dy = c.in[0], &k = c.in[1];
  const Geometry geo = geometry_of(c.node, c.node.out_dims(0), k.dims, dy.dims, dy.type);
  if (is_empty(dy) || is_empty(k)) return c.give(g.zeros(dy.type, c.node.out_dims(0)));
  const Value dx = grouped(g, geo, geo.layout.data(g, g.cast(dy, geo.type)),
                           kernel_of(g, geo, k, !Apart::fits(geo)), input_grad);
  c.give(g.cast(geo.layout.back(g, dx, c.node.out_dims(0)), dy.type));
}

void conv_filter_grad(LowerCall& c) {
  Graph& g = c.graph;
  const Value &x = c.in[0], &dy = c.in[1];
  const Geometry geo = geometry_of(c.node, x.dims, c.node.out_dims(0), dy.dims, x.type);
  if (is_empty(x) || is_empty(dy)) return c.give(g.zeros(x.type, c.node.out_dims(0)));
  const Value dk = grouped(g, geo, geo.layout.data(g, g.cast(x, geo.type)),
                           geo.layout.data(g, g.cast(dy, geo.type)), filter_grad);
  c.give(g.cast(g.reshape(undilate(g, dk, geo.dilation), c.node.out_dims(0)), x.type));
}

}  // namespace

Lowerings conv_lowerings() {
  static constexpr Lowering kTable[] = {
      {"conv", conv}, {"conv_input_grad", conv_input_grad}, {"conv_filter_grad", conv_filter_grad}};
  return kTable;
}

}  // namespace horngate::tf
