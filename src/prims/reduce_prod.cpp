// reduce_prod: the product along axes.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::reduce_prod;

/// Product of the other elements along one axis: those before times those after. No division, so
/// zeros are no problem.
Tensor product_of_others(const Tensor& x, int64_t axis) {
  const Tensor before = emit(attrs::cumprod{.axis = axis, .exclusive = true}, {x});
  const Tensor after = emit(attrs::cumprod{.axis = axis, .exclusive = true, .reverse = true}, {x});
  return prim::mul(before, after);
}

// dx = dy * (product of the other elements), taken axis by axis: the product along several axes is
// a product of products.
Tensors grad(const GradCall& c, const A& a) {
  Tensor dx = rules::with_axes(c.dy[0], a.axes, a.keepdims), x = c.in(0);
  Tensors partial;  // x with one more axis reduced in each
  for (int64_t axis : a.axes) {
    partial.push_back(x);
    x = prim::reduce(Prim::reduce_prod, x, {axis}, true);
  }
  for (size_t i = a.axes.size(); i-- > 0;)
    dx = prim::mul(dx, product_of_others(partial[i], a.axes[i]));
  return {dx};
}

}  // namespace
HORNGATE_PRIMITIVE(reduce_prod, {.infer = rules::reduction<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
