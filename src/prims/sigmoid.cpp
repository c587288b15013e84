// sigmoid: y = 1 / (1 + e^-x).
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::sigmoid;

// dx = dy * y * (1 - y)
Tensors grad(const GradCall& c, const A&) {
  const Tensor y = c.out();
  return {prim::mul(c.dy[0], prim::mul(y, prim::sub(prim::scalar(1, y.dtype()), y)))};
}

Tensors decompose(std::span<const Tensor> in, const A&) {
  const Tensor one = prim::scalar(1, in[0].dtype());
  return {prim::div(one, prim::add(one, prim::exp(prim::neg(in[0]))))};
}

}  // namespace
HORNGATE_PRIMITIVE(sigmoid, {.infer = rules::unary<A, rules::Kind::floats>,
                             .grad = grad,
                             .decompose = decompose})
}  // namespace horngate
