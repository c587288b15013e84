// Pools and their gradient. Margins that TensorFlow cannot express are filled with the lowest number for a
// maximum; for a mean they are left to the decomposition.
#include <limits>

#include "window.h"

namespace horngate::tf {
namespace {

struct Pool {
  Layout layout;
  Dims window, strides, low, high;  // in TensorFlow's form
  bool is_max;
  Margin margin;
  bool is_wide =
      false;  // a window is larger than its axis: the gradient of a mean in float64 is then wrong
  bool leaves_out =
      false;  // elements between windows: 3-D means without oneDNN put the windows in the middle

  Pool(const Node& n, const Dims& x) {
    const size_t axes = x.size() - 2;
    layout = {axes, n.flag("channels_first")};
    const Dims plain = n.ints("window");
    window = layout.widen(plain, 1);
    strides = layout.widen(n.ints("strides", axes, 1), 1);
    low = layout.widen(n.ints("pad_low", axes, 0), 0);
    high = layout.widen(n.ints("pad_high", axes, 0), 0);
    is_max = n.text("mode") != "avg";
    const Dims d = layout.dims(x);
    margin = margin_of(Dims(d.begin() + 1, d.end() - 1), window, strides, low, high);
    for (size_t i = 0; i < window.size(); ++i) {
      const int64_t n = d[i + 1], windows = (n + strides[i] - 1) / strides[i];
      is_wide |= window[i] > n;
      leaves_out |= (windows - 1) * strides[i] + window[i] < n;
    }
  }
  /// A mean with margins that TensorFlow cannot express, or for which no kernel is right.
  bool is_hard_mean() const {
    return !is_max &&
           (margin == Margin::kOther || (margin == Margin::kSame && layout.is_3d() && leaves_out));
  }
  const char* op() const {
    return layout.is_3d() ? (is_max ? "MaxPool3D" : "AvgPool3D") : (is_max ? "MaxPool" : "AvgPool");
  }
  const char* grad() const {
    return layout.is_3d() ? (is_max ? "MaxPool3DGrad" : "AvgPool3DGrad")
                          : (is_max ? "MaxPoolGrad" : "AvgPoolGrad");
  }
  Graph::Op& describe(Graph::Op& o, Type type) const {
    return o.type("T", type)
        .numbers("ksize", framed(window, 1))
        .numbers("strides", framed(strides, 1))
        .text("padding", margin == Margin::kSame ? "SAME" : "VALID")
        .text("data_format", layout.is_3d() ? "NDHWC" : "NHWC");
  }
};

Type computed_in(const char* op, Type type) { return kernel_type(op, wide_type(type)); }

bool can_pool(const Node& n) {
  const Pool p(n, n.in_dims(0));
  const Type t = type_of(n.in_type(0).dtype);
  if (p.is_hard_mean()) return false;
  return computed_in(p.op(), t) != kNoType;
}

bool can_pool_grad(const Node& n) {
  const Pool p(n, n.in_dims(0));
  const Type t = type_of(n.in_type(0).dtype);
  if (p.is_hard_mean() || (!p.is_max && p.is_wide)) return false;
  const Type one = computed_in(p.op(), t), two = computed_in(p.grad(), t);
  return one != kNoType && one == two;
}

Value lowest(Graph& g, Type type) {
  switch (type) {
    case kInt8: return g.scalar(type, -128);
    case kInt16: return g.scalar(type, -32768);
    case kInt32: return g.scalar(type, std::numeric_limits<int32_t>::min());
    case kInt64: return g.scalar(type, -0x1p63);
    default: return g.scalar(type, is_float(type) ? -std::numeric_limits<double>::infinity() : 0);
  }
}

/// x in TensorFlow's form, with its margins if they need filling.
Value data_of(Graph& g, const Pool& p, const Value& x, Type type) {
  const Value v = p.layout.data(g, g.cast(x, type));
  if (p.margin != Margin::kOther) return v;
  return g.pad(v, framed(p.low, 0), framed(p.high, 0), lowest(g, type));
}

void pool(LowerCall& c) {
  Graph& g = c.graph;
  const Value& x = c.in[0];
  const Pool p(c.node, x.dims);
  const Type t = computed_in(p.op(), x.type);
  auto op = g.op(p.op()).in(data_of(g, p, x, t));
  const Dims dims = c.node.out_dims(0);
  const Value y = p.describe(op, t).value(t, p.layout.dims(dims));
  c.give(g.cast(p.layout.back(g, y, dims), x.type));
}

void pool_grad(LowerCall& c) {
  Graph& g = c.graph;
  const Value &x = c.in[0], &y = c.in[1], &dy = c.in[2];
  const Pool p(c.node, x.dims);
  const Type t = computed_in(p.grad(), x.type);
  const Value to = p.layout.data(g, g.cast(dy, t));
  const Dims dims = p.layout.dims(x.dims);
  if (!p.is_max) {
    auto op = g.op(p.grad()).in(g.sizes(dims, to)).in(to);
    c.give(g.cast(p.layout.back(g, p.describe(op, t).value(t, dims), x.dims), x.type));
    return;
  }
  const Value data = data_of(g, p, x, t);
  auto op = g.op(p.grad()).in(data).in(p.layout.data(g, g.cast(y, t))).in(to);
  if (p.layout.is_3d()) op.type("TInput", t);
  Value dx = p.describe(op, t).value(t, data.dims);
  if (p.margin == Margin::kOther) dx = g.slice(dx, framed(p.low, 0), dims, Dims(dims.size(), 1));
  c.give(g.cast(p.layout.back(g, dx, x.dims), x.type));
}

}  // namespace

Lowerings pool_lowerings() {
  static constexpr Lowering kTable[] = {{"pool", pool, can_pool},
                                        {"pool_grad", pool_grad, can_pool_grad}};
  return kTable;
}

}  // namespace horngate::tf
