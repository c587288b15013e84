// softmax: y = exp(x - max x) / sum exp(x - max x), along one axis.
#include "prims/build.h"

namespace horngate {
namespace {

using A = attrs::softmax;

Types infer(const InferCall& c, const A& a) {
  normalize_axis("softmax", a.axis, c.in[0].shape);
  check(is_float(c.in[0].dtype), "softmax", "x must have a float dtype; got ", c.in[0].dtype, ".");
  return {c.in[0]};
}

// dx = y * (dy - sum(y * dy))
Tensors grad(const GradCall& c, const A& a) {
  const Tensor y = c.out();
  const Tensor& dy = c.dy[0];
  return {prim::mul(y, prim::sub(dy, prim::reduce_sum(prim::mul(y, dy), {a.axis}, true)))};
}

Tensors decompose(std::span<const Tensor> in, const A& a) {
  const Tensor x = prim::widened(in[0]);
  const Tensor shifted = prim::sub(x, prim::stop_gradient(prim::reduce_max(x, {a.axis}, true)));
  const Tensor e = prim::exp(shifted);
  return {prim::cast(prim::div(e, prim::reduce_sum(e, {a.axis}, true)), in[0].dtype())};
}

}  // namespace
HORNGATE_PRIMITIVE(softmax, {.infer = infer, .grad = grad, .decompose = decompose})
}  // namespace horngate
