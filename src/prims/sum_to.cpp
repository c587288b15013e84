// sum_to: sums x down to `shape`: over the leading axes that shape lacks and over those where it
// has 1. Adds up what broadcasting repeats.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::sum_to;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("sum_to", InferCall{c.in.first(1), {}});
  rules::check_kind("sum_to", "x", c.in[0].dtype, rules::Kind::number);
  rules::check_shape_operand("sum_to", c, a.shape, 1);
  const Shape& x = c.in[0].shape;
  Ints dims = a.shape;
  bool ok = dims.size() <= x.ndim();
  for (size_t i = 0; ok && i < dims.size(); ++i) {
    int64_t& d = dims[i];
    if (d == kFromOperand) d = Shape::kUnknown;
    const int64_t from = x.dim(x.ndim() - dims.size() + i);
    ok = d >= Shape::kUnknown && (d == 1 || rules::same_dim(d, from) != rules::kConflict);
    // 1 stays 1; a larger size may have been summed or not.
    if (d == Shape::kUnknown && from == 1) d = 1;
  }
  check(ok, "sum_to", x, " does not sum to ", rules::shape_text(a.shape), ".");
  return {TensorType(c.in[0].dtype, Shape(std::move(dims)))};
}

// dx = dy, repeated
Tensors grad(const GradCall& c, const A&) {
  Tensors dx(c.node.in.size());
  dx[0] = prim::broadcast_like(c.dy[0], c.in(0));
  return dx;
}

// The shape alone tells which axes to sum: an axis that stays has the size of x.
Tensors decompose(std::span<const Tensor> in, const A& a) {
  if (rules::from_operand(a.shape)) return {};
  const Tensor& x = in[0];
  const size_t lead = x.ndim() - a.shape.size();
  Ints summed, dropped;
  for (size_t i = 0; i < x.ndim(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    if (i < lead) dropped.push_back(axis);
    if (i < lead || (a.shape[i - lead] == 1 && x.shape().dim(i) != 1)) summed.push_back(axis);
  }
  if (summed.size() == dropped.size()) return {prim::reduce_sum(x, dropped)};
  return {prim::squeeze(prim::reduce_sum(x, summed, true), dropped)};
}

}  // namespace
HORNGATE_PRIMITIVE(sum_to, {.infer = infer, .grad = grad, .decompose = decompose})
}  // namespace horngate
