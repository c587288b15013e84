// mod: y = a - floor(a / b) * b, with the sign of b.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::mod;

// da = dy, db = -floor(a / b) * dy
Tensors grad(const GradCall& c, const A&) {
  const Tensor& dy = c.dy[0];
  return rules::sum_to_operands(c, dy, prim::neg(prim::mul(prim::floordiv(c.in(0), c.in(1)), dy)));
}

// Not for floats: rounding the product of a large quotient would leave only noise.
Tensors decompose(std::span<const Tensor> in, const A&) {
  if (is_float(in[0].dtype())) return {};
  return {prim::sub(in[0], prim::mul(prim::floordiv(in[0], in[1]), in[1]))};
}

}  // namespace
HORNGATE_PRIMITIVE(mod, {.infer = rules::binary<A, rules::Kind::number>,
                         .grad = grad,
                         .decompose = decompose})
}  // namespace horngate
