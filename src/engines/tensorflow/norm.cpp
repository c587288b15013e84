// Softmax and batch normalisation.
#include <algorithm>

#include "lower.h"

namespace horngate::tf {
namespace {

constexpr char kSoftmax[] = "Softmax", kLogSoftmax[] = "LogSoftmax";

// TensorFlow's oneDNN kernel takes no more axes than this.
constexpr size_t kMostAxes = 5;

/// More axes are merged into two, which a run can undo if at most one of them is open.
bool can_softmax(const Node& n) {
  const Dims x = n.in_dims(0);
  return x.size() <= kMostAxes || std::count(x.begin(), x.end(), -1) <= 1;
}

/// TensorFlow normalises along the last axis; another one is moved there and back.
template <const char* kOp>
void softmax(LowerCall& c) {
  Graph& g = c.graph;
  const Value& x = c.in[0];
  const auto rank = static_cast<int64_t>(x.rank());
  int64_t axis = c.node.number("axis", -1);
  if (axis < 0) axis += rank;
  Dims perm;
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  const Type t = kernel_type(kOp, wide_type(x.type));
  const Value moved = g.transpose(g.cast(x, t), perm);
  Value rows = moved;
  if (x.rank() > kMostAxes) {
    Dims two{count(Dims(moved.dims.begin(), moved.dims.end() - 1)), moved.dims.back()};
    rows = g.reshape(moved, two);
  }
  Value y = g.op(kOp).in(rows).type("T", t).value(t, rows.dims);
  if (kOp == kSoftmax && t == kFloat) {
    // For a row with NaN the oneDNN kernel gives NaN in some places only. 0 times the sum of a row is 0 or
    // NaN.
    const Value sum = g.reduce("Sum", y, {static_cast<int64_t>(y.rank()) - 1}, true);
    y = g.binary("AddV2", y, g.binary("Mul", sum, g.scalar(t, 0)));
  }
  c.give(g.cast(g.transpose(g.reshape(y, moved.dims), perm), x.type));
}

/// What both batch norms use: x in the type of the computation, and the shape of statistics against x.
struct Norm {
  Dims axes;
  Dims kept;  // dims of x with 1 along the axes
  double epsilon;
  double n;  // elements per channel; -1: open
  Type type;
  bool is_fused;  // TensorFlow's fused form: float32, channels last

  explicit Norm(const LowerCall& c)
      : axes(c.node.ints("axes")),
        kept(c.in[0].dims),
        epsilon(c.node.real("epsilon", 1e-3)),
        n(1),
        type(wide_type(c.in[0].type)) {
    Dims counted;
    for (int64_t a : axes) {
      counted.push_back(kept[static_cast<size_t>(a)]);
      kept[static_cast<size_t>(a)] = 1;
    }
    n = static_cast<double>(count(counted));
    is_fused =
        type == kFloat && axes.size() + 1 == kept.size() && n != 0 && n != 1 &&
        std::find(axes.begin(), axes.end(), static_cast<int64_t>(kept.size()) - 1) == axes.end();
  }
  /// The mean along the axes, which are kept.
  Value mean(Graph& g, const Value& x, const Value& channel) const {
    return g.binary("RealDiv", g.sum(x, axes, true), count_of(g, x, channel));
  }
  Dims rows(const Value& x) const { return {static_cast<int64_t>(n), 1, 1, x.dims.back()}; }
  Value spread(Graph& g, const Value& v) const { return g.reshape(v, kept); }
  /// n at run time; `channel`: any value with one number per channel.
  Value count_of(Graph& g, const Value& x, const Value& channel) const {
    if (n >= 0) return g.scalar(type, n);
    const auto size = [&](const Value& v) {
      return g.op("Size").in(v).type("T", v.type).type("out_type", kInt32).value(kInt32, {});
    };
    return g.binary("RealDiv", g.cast(size(x), type), g.cast(size(channel), type));
  }
};

void describe(Graph::Op& op, const Norm& norm, bool is_training = true) {
  op.type("T", kFloat)
      .type("U", kFloat)
      .real("epsilon", norm.epsilon)
      .text("data_format", "NHWC")
      .flag("is_training", is_training);
}

// y = (x - mean) / sqrt(var + epsilon) * gamma + beta; the fused form gives the unbiased variance
void batch_norm(LowerCall& c) {
  Graph& g = c.graph;
  const Norm norm(c);
  const Type own = c.in[0].type, t = norm.type;
  const Value x = g.cast(c.in[0], t), gamma = g.cast(c.in[1], t), beta = g.cast(c.in[2], t);
  Value y, mean, var;
  // With many rows the fused form, which adds them one by one, loses digits.
  if (norm.is_fused && !is_long_sum(x.dims, norm.axes)) {
    auto op = g.op("FusedBatchNormV3").in(g.reshape(x, norm.rows(x))).in(gamma).in(beta);
    op.in(g.zeros(t, {0})).in(g.zeros(t, {0}));  // statistics come from x
    describe(op, norm);
    const Value made = op.value(t, norm.rows(x));
    y = g.reshape(made, x.dims);
    mean = {{made.out.op, 1}, t, gamma.dims};
    // An open n may be 1: the variance is then 0 in either case.
    const Value all = norm.count_of(g, x, gamma);
    const Value part = norm.n >= 0 ? g.scalar(t, (norm.n - 1) / norm.n)
                                   : g.binary("RealDiv", g.binary("Sub", all, g.scalar(t, 1)), all);
    var = g.binary("Mul", {{made.out.op, 2}, t, gamma.dims}, part);
  } else {
    const Value wide_mean = norm.mean(g, x, gamma);
    const Value squares = g.binary("SquaredDifference", x, wide_mean);
    const Value wide_var = norm.mean(g, squares, gamma);
    mean = g.reshape(wide_mean, gamma.dims);
    var = g.reshape(wide_var, gamma.dims);
    if (norm.is_fused) {
      auto op = g.op("FusedBatchNormV3").in(g.reshape(x, norm.rows(x))).in(gamma).in(beta);
      op.in(mean).in(var);
      describe(op, norm, false);
      y = g.reshape(op.value(t, norm.rows(x)), x.dims);
    } else {
      const Value r = g.unary("Rsqrt", g.binary("AddV2", wide_var, g.scalar(t, norm.epsilon)));
      const Value scale = g.binary("Mul", r, norm.spread(g, gamma));
      const Value off = g.binary("Sub", x, wide_mean);
      y = g.binary("AddV2", g.binary("Mul", off, scale), norm.spread(g, beta));
    }
  }
  c.give(g.cast(y, own));
  c.give(g.cast(mean, own));
  c.give(g.cast(var, own));
}

// With r = 1 / sqrt(var + epsilon), s = sum(dy), p = sum(dy (x - mean)):
// dbeta = s, dgamma = p r, dx = gamma r (dy - s / n - (x - mean) r^2 p / n)
void batch_norm_grad(LowerCall& c) {
  Graph& g = c.graph;
  const Norm norm(c);
  const Type own = c.in[0].type, t = norm.type;
  Values in;
  for (const Value& v : c.in) in.push_back(g.cast(v, t));
  const Value &x = in[0], &gamma = in[1], &mean = in[2], &var = in[3], &dy = in[4];
  Value dx, dgamma, dbeta;
  if (norm.is_fused) {
    auto op = g.op("FusedBatchNormGradV3")
                  .in(g.reshape(dy, norm.rows(x)))
                  .in(g.reshape(x, norm.rows(x)))
                  .in(gamma)
                  .in(mean)
                  .in(var)
                  .in(g.zeros(t, {0}));
    describe(op, norm);
    const Value made = op.value(t, norm.rows(x));
    dx = g.reshape(made, x.dims);
    dgamma = {{made.out.op, 1}, t, gamma.dims};
    dbeta = {{made.out.op, 2}, t, gamma.dims};
  } else {
    const Value off = g.binary("Sub", x, norm.spread(g, mean));
    const Value wide_var = g.binary("AddV2", norm.spread(g, var), g.scalar(t, norm.epsilon));
    const Value r = g.unary("Rsqrt", wide_var);
    const Value s = g.sum(dy, norm.axes, true);
    const Value p = g.sum(g.binary("Mul", dy, off), norm.axes, true);
    const Value per = norm.n >= 0 ? g.scalar(t, 1 / norm.n)
                                  : g.binary("RealDiv", g.scalar(t, 1), norm.count_of(g, x, gamma));
    const Value slope = g.binary("Mul", g.binary("Mul", g.binary("Mul", r, r), p), per);
    const Value centred = g.binary("Sub", dy, g.binary("Mul", s, per));
    dx = g.binary("Mul", g.binary("Sub", centred, g.binary("Mul", off, slope)),
                  g.binary("Mul", r, norm.spread(g, gamma)));
    dgamma = g.reshape(g.binary("Mul", p, r), gamma.dims);
    dbeta = g.reshape(s, gamma.dims);
  }
  c.give(g.cast(dx, own));
  c.give(g.cast(dgamma, own));
  c.give(g.cast(dbeta, own));
}

}  // namespace

Lowerings norm_lowerings() {
  static constexpr Lowering kTable[] = {{"softmax", softmax<kSoftmax>, can_softmax},
                                        {"log_softmax", softmax<kLogSoftmax>, can_softmax},
                                        {"batch_norm", batch_norm},
                                        {"batch_norm_grad", batch_norm_grad}};
  return kTable;
}

}  // namespace horngate::tf
