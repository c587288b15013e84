// gather: x at integer positions along an axis; the shape of `indices` replaces that axis:
// y[.., i.., ..] = x[.., indices[i..], ..]. An index outside [0, size) is an error.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::gather;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("gather", c);
  const Shape &x = c.in[0].shape, &indices = c.in[1].shape;
  rules::check_index("gather", "indices", c.in[1].dtype);
  const int64_t axis = normalize_axis("gather", a.axis, x);
  Ints dims(x.dims().begin(), x.dims().begin() + axis);
  for (int64_t d : indices.dims()) dims.push_back(d);
  for (size_t i = static_cast<size_t>(axis) + 1; i < x.ndim(); ++i) dims.push_back(x.dim(i));
  return {TensorType(c.in[0].dtype, Shape(std::move(dims)))};
}

// dx = zeros with dy added where it was read
Tensors grad(const GradCall& c, const A& a) {
  const int64_t axis = normalize_axis("gather", a.axis, c.in(0).shape());
  return {prim::scatter_add(c.in(1), c.dy[0], prim::sym_shape(c.in(0)), axis), Tensor()};
}

}  // namespace
HORNGATE_PRIMITIVE(gather, {.infer = infer, .grad = grad})
}  // namespace horngate
