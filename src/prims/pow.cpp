// pow: y = a^b.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::pow;

// da = dy * b * a^(b - 1), 0 where b is 0
// db = dy * y * log a, 0 where a is not positive
// Where these are 0, the power and the logarithm are taken of harmless numbers: select drops what
// they give, but it would still spoil the second derivative (0 * inf).
Tensors grad(const GradCall& c, const A&) {
  const Tensor &a = c.in(0), &b = c.in(1), &dy = c.dy[0];
  const Tensor zero = rules::zero_of(a), one = prim::scalar(1, a.dtype());
  const Tensor corner = prim::logical_and(prim::eq(a, zero), prim::eq(b, zero));
  const Tensor slope = prim::pow(prim::select(corner, one, a), prim::sub(b, one));
  const Tensor positive = prim::gt(a, zero);
  const Tensor log_a = prim::log(prim::select(positive, a, one));
  const Tensor db = prim::select(positive, prim::mul(prim::mul(dy, c.out()), log_a), zero);
  return rules::sum_to_operands(c, prim::mul(prim::mul(dy, b), slope), db);
}

}  // namespace
HORNGATE_PRIMITIVE(pow, {.infer = rules::binary<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
