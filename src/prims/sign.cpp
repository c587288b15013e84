// sign: y = 1 where x > 0, -1 where x < 0, else x (so that 0 and NaN stay).
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::sign;

Tensors decompose(std::span<const Tensor> in, const A&) {
  const Tensor &x = in[0], zero = rules::zero_of(x);
  if (is_unsigned_int(x.dtype())) return {prim::minimum(x, prim::scalar(1, x.dtype()))};
  const Tensor falling = prim::select(prim::lt(x, zero), prim::scalar(-1, x.dtype()), x);
  return {prim::select(prim::gt(x, zero), prim::scalar(1, x.dtype()), falling)};
}

// dx = 0, not none, as on TensorFlow: a loss that contains the sign of a weight among other things
// still trains
Tensors grad(const GradCall& c, const A&) { return {prim::zeros_like(c.in(0))}; }

}  // namespace
HORNGATE_PRIMITIVE(sign, {.infer = rules::unary<A, rules::Kind::number>,
                          .grad = grad,
                          .decompose = decompose})
}  // namespace horngate
