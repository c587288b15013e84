// pool: y = maximum or mean over each window of x. Padding does not count: it is below any maximum,
// and a mean divides by the number of elements inside x.
#include "prims/pool_rules.h"

namespace horngate {
namespace {

using A = attrs::pool;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("pool", c);
  return {TensorType(c.in[0].dtype, rules::pool_shape("pool", rules::pool_geometry(a), c.in[0]))};
}

// dx = pool_grad(x, y, dy)
Tensors grad(const GradCall& c, const A& a) {
  return {emit(rules::pool_attrs<attrs::pool_grad>(a), {c.in(0), c.out(), c.dy[0]})};
}

Tensors decompose(std::span<const Tensor> in, const A& a) {
  const rules::PoolGeometry g = rules::pool_geometry(a);
  const Tensor x = g.is_max() ? in[0] : prim::widened(in[0]);
  const Tensor padded = rules::pad_windows(g, x, g.is_max() ? rules::lowest_of(x.dtype()) : 0.0);
  Tensor y;
  rules::for_taps(g, [&](const Ints& tap) {
    const Tensor part = rules::take_tap(g, padded, tap);
    y = !y.defined() ? part : g.is_max() ? prim::maximum(y, part) : prim::add(y, part);
  });
  return {g.is_max() ? y : prim::cast(prim::div(y, rules::window_sizes(g, x)), in[0].dtype())};
}

}  // namespace
HORNGATE_PRIMITIVE(pool, {.infer = infer, .grad = grad, .decompose = decompose})
}  // namespace horngate
