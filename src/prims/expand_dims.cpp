// expand_dims: new axes of size 1; `axes` are those of the result, sorted.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::expand_dims;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("expand_dims", c);
  Shape shape = c.in[0].shape;
  const auto rank = static_cast<int64_t>(shape.ndim() + a.axes.size());
  int64_t previous = -1;
  for (int64_t axis : a.axes) {
    check(axis > previous && axis < rank, "expand_dims", "axes must be in [0, ", rank,
          "), sorted and without repeats; got ", a.axes, ".");
    previous = axis;
    shape.dims().insert(shape.dims().begin() + axis, 1);
  }
  return {TensorType(c.in[0].dtype, std::move(shape))};
}

// dx = dy without the new axes
Tensors grad(const GradCall& c, const A& a) { return {prim::squeeze(c.dy[0], a.axes)}; }

}  // namespace
HORNGATE_PRIMITIVE(expand_dims, {.infer = infer, .grad = grad})
}  // namespace horngate
