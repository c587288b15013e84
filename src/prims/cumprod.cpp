// cumprod: running product along an axis: y_i = x_0 * .. * x_i; `exclusive` leaves x_i out,
// `reverse` starts at the end.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::cumprod;

// Let S(v) be the running sum of v the other way. Without zeros dx = S(dy * y) / x. From the first
// zero on y is 0, so this holds before it (the zero terms vanish). At the first zero itself dx =
// S(dy * y'), y' being the product without that factor. After it every product keeps the zero: dx =
// 0. Exact with any number of zeros; the second derivative is exact too where x has none.
Tensors grad(const GradCall& c, const A& a) {
  const Tensor &x = c.in(0), &dy = c.dy[0];
  const Tensor zero = rules::zero_of(x), one = prim::scalar(1, x.dtype());
  const auto sum_back = [&](const Tensor& v) {
    return emit(attrs::cumsum{.axis = a.axis, .exclusive = a.exclusive, .reverse = !a.reverse},
                {v});
  };
  const Tensor is_zero = prim::eq(x, zero);
  const Tensor zeros_so_far = emit(attrs::cumsum{.axis = a.axis, .reverse = a.reverse},
                                   {prim::cast(is_zero, DType::int64)});
  const Tensor before = prim::eq(zeros_so_far, prim::scalar(0, DType::int64));
  const Tensor at =
      prim::logical_and(is_zero, prim::eq(zeros_so_far, prim::scalar(1, DType::int64)));
  const Tensor without = emit(A{a}, {prim::select(at, one, x)});
  const Tensor dx_before =
      prim::div(sum_back(prim::mul(dy, c.out())), prim::select(is_zero, one, x));
  const Tensor dx_at = prim::select(at, sum_back(prim::mul(dy, without)), zero);
  return {prim::select(before, dx_before, dx_at)};
}

}  // namespace
HORNGATE_PRIMITIVE(cumprod, {.infer = rules::along_axis<A, rules::Kind::number>, .grad = grad})
}  // namespace horngate
