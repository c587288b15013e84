// recurrence: y_i = a_i y_(i-1) + b_i along an axis, from y_(-1) = 0; `reverse` starts at the end. The gradient
// of a running product is a recurrence, and so is the gradient of a recurrence; neither divides, so zeros are
// no problem.
#include "prims/recurrence.h"

#include "prims/scan.h"

namespace horngate {
namespace {

using A = attrs::recurrence;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("recurrence", c);
  const TensorType &x = c.in[0], &b = c.in[1];
  rules::check_kind("recurrence", "a", x.dtype, rules::Kind::number);
  check<TypeError>(x.dtype == b.dtype, "recurrence", "a and b must have the same dtype; got ",
                   x.dtype, " and ", b.dtype, ".");
  normalize_axis("recurrence", a.axis, x.shape, "axis", "a");
  Shape shape = x.shape;
  bool ok = shape.ndim() == b.shape.ndim();
  for (size_t i = 0; ok && i < shape.ndim(); ++i) {
    shape.dims()[i] = rules::same_dim(shape.dim(i), b.shape.dim(i));
    ok = shape.dim(i) != rules::kConflict;
  }
  check(ok, "recurrence", "a and b must have the same shape; got ", x.shape, " and ", b.shape, ".");
  return {TensorType(x.dtype, shape)};
}

// db_i = dy_i + a_(i+1) db_(i+1): a recurrence the other way; da_i = db_i y_(i-1)
Tensors grad(const GradCall& c, const A& a) {
  const Tensor db = emit(A{.axis = a.axis, .reverse = !a.reverse},
                         {element_before(c.in(0), a.axis, !a.reverse), c.dy[0]});
  return {prim::mul(db, element_before(c.out(), a.axis, a.reverse)), db};
}

Tensors decompose(std::span<const Tensor> in, const A& a) {
  const int64_t axis = normalize_axis("recurrence", a.axis, in[0].shape(), "axis", "a");
  const Tensor zeros = prim::zeros_like(
      prim::reduce_sum(in[1], {axis}));  // the shape of a slice, also when there is none
  ScanSpec spec{.xs = {in[0], in[1]},
                .x_axes = {axis, axis},
                .x_reversed = {a.reverse, a.reverse},
                .inits = {zeros},
                .y_axes = {axis},
                .y_reversed = {a.reverse}};
  const auto step = [](const Tensors& x, const Tensors& y, const Tensor&) {
    const Tensor next = prim::add(prim::mul(x[0], y[0]), x[1]);
    return StepResult{{next}, {next}};
  };
  return {make_scan("recurrence", spec, step)[1]};
}

}  // namespace

Tensor element_before(const Tensor& x, int64_t axis, bool reverse) {
  axis = normalize_axis("recurrence", axis, x.shape());
  Ints low(x.ndim(), 0), high(x.ndim(), 0);
  (reverse ? high : low)[static_cast<size_t>(axis)] = 1;
  return prim::slice_axis(prim::pad(x, low, high), axis, reverse ? 1 : 0, reverse ? kToEnd : -1);
}

HORNGATE_PRIMITIVE(recurrence, {.infer = infer, .grad = grad, .decompose = decompose})

}  // namespace horngate
