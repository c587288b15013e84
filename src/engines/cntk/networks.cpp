// Softmax and batch normalization, from the library's reductions.
#include <algorithm>

#include "cntk/lower.h"

namespace horngate::cntk {
namespace {

Dims all_but_shape(const Dims& dims, const Dims& axes) {
  Dims out = dims;
  for (int64_t a : axes) out[static_cast<size_t>(a)] = 1;
  return out;
}

double size_over(const Dims& dims, const Dims& axes) {
  double n = 1;
  for (int64_t a : axes) n *= static_cast<double>(dims[static_cast<size_t>(a)]);
  return n;
}

/// 1 / sqrt(var + epsilon)
Val inverse_deviation(Build& b, const Val& var, double epsilon) {
  Val shifted = b.bin(Bin::kPlus, var, epsilon);
  shifted.low = var.low + epsilon;
  return divide(b, b.scalar(var.type, 1), square_root(b, shifted));
}

void batch_norm(const LowerCall& c) {
  Build& b = c.b;
  const Val& x = c.in(0);
  const Dims axes = c.attrs.ints("axes"), kept = all_but_shape(x.dims, axes);
  const double share = 1 / size_over(x.dims, axes);
  const Val mean = b.bin(Bin::kTimes, b.reduce(L"Sum", x, axes), share);
  const Val centred = b.bin(Bin::kMinus, x, mean);
  Val var = b.bin(Bin::kTimes, b.reduce(L"Sum", b.mul(centred, centred), axes), share);
  var.low = 0;
  const Val scale =
      b.mul(inverse_deviation(b, var, c.attrs.real("epsilon")), b.reshape(c.in(1), kept));
  c.set(0, b.add(b.mul(centred, scale), b.reshape(c.in(2), kept)));
  c.set(1, b.reshape(mean, c.out_dims(1)));
  c.set(2, b.reshape(var, c.out_dims(2)));
}

// With r = 1 / sqrt(var + epsilon), s = sum(dy), p = sum(dy (x - mean)):
// dbeta = s, dgamma = p r, dx = gamma r (dy - s / n - (x - mean) r^2 p / n)
void batch_norm_grad(const LowerCall& c) {
  Build& b = c.b;
  const Val &x = c.in(0), &dy = c.in(4);
  const Dims axes = c.attrs.ints("axes"), kept = all_but_shape(x.dims, axes);
  const double share = 1 / size_over(x.dims, axes);
  const Val centred = b.bin(Bin::kMinus, x, b.reshape(c.in(2), kept));
  Val var = b.reshape(c.in(3), kept);
  var.low = std::max(c.in(3).low, -1e300);
  const Val r = inverse_deviation(b, var, c.attrs.real("epsilon"));
  const Val s = b.reduce(L"Sum", dy, axes), p = b.reduce(L"Sum", b.mul(dy, centred), axes);
  const Val slope = b.bin(Bin::kTimes, b.mul(b.mul(r, r), p), share);
  const Val inner = b.bin(Bin::kMinus, b.bin(Bin::kMinus, dy, b.bin(Bin::kTimes, s, share)),
                          b.mul(centred, slope));
  c.set(0, b.mul(inner, b.mul(b.reshape(c.in(1), kept), r)));
  c.set(1, b.reshape(b.mul(p, r), c.out_dims(1)));
  c.set(2, b.reshape(s, c.out_dims(2)));
}

bool few_axes(const hg_graph& g, const hg_node& n) {
  const Dims dims = dims_of(*g.value[n.in[0]]);
  return merge_axes(dims, {dims, all_but_shape(dims, Attrs(n).ints("axes"))})[0].size() <=
         kMostAxes;
}

}  // namespace

Val softmax(Build& b, const Val& x, size_t axis, bool logarithmic) {
  const Dims shape = x.dims;
  const auto at = shape.begin() + static_cast<int64_t>(axis);
  const Dims three{count(Dims(shape.begin(), at)), *at, count(Dims(at + 1, shape.end()))};
  const Val flat = b.reshape(x, three);
  const Val shifted = b.bin(Bin::kMinus, flat, b.reduce(L"Max", flat, {1}));
  Val e = b.un(Un::kExp, shifted);
  Val total = b.reduce(L"Sum", e, {1});
  total.low = 0.5;  // one of the terms is 1
  Val y = logarithmic ? b.bin(Bin::kMinus, shifted, logarithm(b, total)) : divide(b, e, total);
  y = b.reshape(y, shape);
  if (!logarithmic) y.low = 0;
  return y;
}

void add_networks(Table& t) {
  for (const bool logarithmic : {false, true})
    t[logarithmic ? "log_softmax" : "softmax"] = {
        [logarithmic](const LowerCall& c) {
          return softmax(c.b, c.in(0), static_cast<size_t>(c.attrs.number("axis")), logarithmic);
        },
        {},
        {}};
  t["batch_norm"] = {{}, few_axes, batch_norm};
  t["batch_norm_grad"] = {{}, few_axes, batch_norm_grad};
}

}  // namespace horngate::cntk
