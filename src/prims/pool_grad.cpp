// pool_grad(x, y, dy): the gradient of pool. max: dy goes to the first maximum of each window, in
// row-major order; avg: dy / (elements of the window inside x) goes to each of them.
#include "prims/pool_rules.h"

namespace horngate {
namespace {

using A = attrs::pool_grad;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("pool_grad", c);
  const Shape y = rules::pool_shape("pool_grad", rules::pool_geometry(a), c.in[0]);
  rules::check_kind("pool_grad", "x", c.in[0].dtype, rules::Kind::floats);
  for (size_t i = 1; i < 3; ++i) {
    check<TypeError>(c.in[i].dtype == c.in[0].dtype, "pool_grad",
                     "x, y and dy must have the same dtype; got ", c.in[0].dtype, " and ",
                     c.in[i].dtype, ".");
    bool same = c.in[i].shape.ndim() == y.ndim();
    for (size_t d = 0; same && d < y.ndim(); ++d)
      same = rules::same_dim(c.in[i].shape.dim(d), y.dim(d)) != rules::kConflict;
    check(same, "pool_grad", i == 1 ? "y" : "dy", " must have shape ", y, "; got ", c.in[i].shape,
          ".");
  }
  return {c.in[0]};
}

// Linear in dy; small changes of x do not move the maxima. With u the cotangent of dx: max: d(dy) =
// u at the first maximum of each window; avg: d(dy) = mean of u over the window
Tensors grad(const GradCall& c, const A& a) {
  const rules::PoolGeometry g = rules::pool_geometry(a);
  const Tensor& u = c.dy[0];
  if (!g.is_max()) return {Tensor(), Tensor(), emit(rules::pool_attrs<attrs::pool>(a), {u})};
  const Tensor padded = rules::pad_windows(g, u, 0.0), zero = rules::zero_of(u);
  Tensor sum;
  rules::for_first_maxima(g, c.in(0), c.in(1), [&](const Ints& tap, const Tensor& here) {
    const Tensor part = prim::select(here, rules::take_tap(g, padded, tap), zero);
    sum = sum.defined() ? prim::add(sum, part) : part;
  });
  return {Tensor(), Tensor(), sum};
}

Tensors decompose(std::span<const Tensor> in, const A& a) {
  const Tensor &x = in[0], &y = in[1], &dy = in[2];
  const rules::PoolGeometry g = rules::pool_geometry(a);
  Tensor sum;
  const auto put = [&](const Ints& tap, const Tensor& part) {
    const Tensor spread = rules::put_tap(g, x, part, tap);
    sum = sum.defined() ? prim::add(sum, spread) : spread;
  };
  if (g.is_max()) {
    const Tensor zero = rules::zero_of(dy);
    rules::for_first_maxima(g, x, y, [&](const Ints& tap, const Tensor& here) {
      put(tap, prim::select(here, dy, zero));
    });
  } else {
    const Tensor sizes = rules::window_sizes(g, prim::widened(x));
    const Tensor share = prim::cast(prim::div(prim::widened(dy), sizes), dy.dtype());
    rules::for_taps(g, [&](const Ints& tap) { put(tap, share); });
  }
  return {rules::drop_padding(g, sum)};
}

}  // namespace
HORNGATE_PRIMITIVE(pool_grad, {.infer = infer, .grad = grad, .decompose = decompose})
}  // namespace horngate
