// scatter_add: zeros of `shape` plus `updates` at integer positions along an axis; the inverse of
// gather: y[.., indices[i..], ..] += updates[.., i.., ..], in the order of the updates.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::scatter_add;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("scatter_add", c);
  rules::check_index("scatter_add", "indices", c.in[0].dtype);
  rules::check_kind("scatter_add", "updates", c.in[1].dtype, rules::Kind::number);
  rules::check_shape_operand("scatter_add", c, a.shape, 2);
  const Shape &indices = c.in[0].shape, &updates = c.in[1].shape;
  Ints dims = a.shape;
  for (int64_t& d : dims) {
    check(d >= 0 || d == kFromOperand, "scatter_add", "shape must have entries of at least 0; got ",
          rules::shape_text(a.shape), ".");
    if (d < 0) d = Shape::kUnknown;
  }
  const auto rank = static_cast<int64_t>(dims.size()), taken = static_cast<int64_t>(indices.ndim());
  check(a.axis >= 0 && a.axis < rank, "scatter_add", "axis must be in [0, ", rank, ") for shape ",
        rules::shape_text(a.shape), "; got axis=", a.axis, ".");

  // updates: shape[:axis] + indices + shape[axis + 1:]
  bool ok = static_cast<int64_t>(updates.ndim()) == rank - 1 + taken;
  for (int64_t i = 0; ok && i < static_cast<int64_t>(updates.ndim()); ++i) {
    if (i >= a.axis && i < a.axis + taken) {
      ok = rules::same_dim(updates.dim(i), indices.dim(i - a.axis)) != rules::kConflict;
      continue;
    }
    int64_t& d = dims[i < a.axis ? i : i - taken + 1];
    d = rules::same_dim(d, updates.dim(i));
    ok = d != rules::kConflict;
  }
  check(ok, "scatter_add", "updates of shape ", updates, " do not fit indices of shape ", indices,
        " on axis ", a.axis, " of ", rules::shape_text(a.shape), ".");
  return {TensorType(c.in[1].dtype, Shape(std::move(dims)))};
}

// d updates = dy read back at the indices
Tensors grad(const GradCall& c, const A& a) {
  Tensors result(c.node.in.size());
  result[1] = prim::gather(c.dy[0], c.in(0), a.axis);
  return result;
}

}  // namespace
HORNGATE_PRIMITIVE(scatter_add, {.infer = infer, .grad = grad})
}  // namespace horngate
