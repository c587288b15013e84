// top_k: the k largest elements along the last axis, largest first, and their int32 positions;
// equal elements in order of position.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::top_k;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("top_k", c);
  rules::check_kind("top_k", "x", c.in[0].dtype, rules::Kind::number);
  Shape shape = c.in[0].shape;
  check(shape.ndim() > 0, "top_k", "x must have at least one dimension; got shape ", shape, ".");
  const int64_t n = shape.dims().back();
  check(a.k >= 0 && (n < 0 || a.k <= n), "top_k",
        "k must be at least 0 and at most the last dimension of ", shape, "; got k=", a.k, ".");
  shape.dims().back() = a.k;
  return {TensorType(c.in[0].dtype, shape), TensorType(DType::int32, shape)};
}

// dx = zeros with dy at the positions found. Numbering all elements, (row, position) as row * n +
// position, lets one scatter along a flat axis do all rows.
Tensors grad(const GradCall& c, const A& a) {
  const Tensor &x = c.in(0), &dy = c.dy[0];
  if (!dy.defined()) return {Tensor()};
  const auto last = static_cast<int64_t>(x.ndim()) - 1;
  if (a.k == 0) return {prim::zeros_like(x)};
  const Tensor n = prim::count(x, {last}, DType::int64);
  const Tensor positions = prim::reshape(prim::cast(c.out(1), DType::int64), Ints{kInfer, a.k});
  const Tensor rows =
      emit(attrs::cumsum{.axis = 0, .exclusive = true}, {prim::full_like(positions, 1)});
  const Tensor flat = prim::add(prim::mul(rows, n), positions);
  SymShape total{{kFromOperand}, {}};
  if (x.shape().is_static())
    total.dims[0] = x.shape().size();
  else
    total.operand = prim::expand_dims(prim::count(x, prim::all_axes(x), DType::int64), {0});
  const Tensor spread =
      prim::scatter_add(prim::reshape(flat, Ints{kInfer}), prim::reshape(dy, Ints{kInfer}), total);
  return {prim::reshape_like(spread, x)};
}

}  // namespace
HORNGATE_PRIMITIVE(top_k, {.infer = infer, .grad = grad})
}  // namespace horngate
