// log_softmax: y = x - max x - log(sum exp(x - max x)), along one axis.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::log_softmax;

// dx = dy - exp(y) * sum(dy)
Tensors grad(const GradCall& c, const A& a) {
  const Tensor& dy = c.dy[0];
  return {prim::sub(dy, prim::mul(prim::exp(c.out()), prim::reduce_sum(dy, {a.axis}, true)))};
}

Tensors decompose(std::span<const Tensor> in, const A& a) {
  const Tensor x = prim::widened(in[0]);
  const Tensor shifted = prim::sub(x, prim::stop_gradient(prim::reduce_max(x, {a.axis}, true)));
  const Tensor total = prim::reduce_sum(prim::exp(shifted), {a.axis}, true);
  return {prim::cast(prim::sub(shifted, prim::log(total)), in[0].dtype())};
}

}  // namespace
HORNGATE_PRIMITIVE(log_softmax, {.infer = rules::along_axis<A, rules::Kind::floats>,
                                 .grad = grad,
                                 .decompose = decompose})
}  // namespace horngate
