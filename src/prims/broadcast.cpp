// broadcast: x repeated to `shape`, as NumPy's broadcast_to does.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::broadcast;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("broadcast", InferCall{c.in.first(1), {}});
  rules::check_shape_operand("broadcast", c, a.shape, 1);
  const Shape& x = c.in[0].shape;
  Ints dims = a.shape;
  for (int64_t& d : dims) {
    check(d >= 0 || d == kFromOperand, "broadcast", "shape must have entries of at least 0; got ",
          rules::shape_text(a.shape), ".");
    if (d < 0) d = Shape::kUnknown;
  }
  bool ok = x.ndim() <= dims.size();
  for (size_t i = 0; ok && i < x.ndim(); ++i) {
    int64_t& d = dims[dims.size() - x.ndim() + i];
    if (x.dim(i) == 1) continue;
    const int64_t both = rules::same_dim(d, x.dim(i));
    // An unknown dimension of x may still be 1, so it says nothing about the result.
    ok = both != rules::kConflict;
    d = both;
  }
  check(ok, "broadcast", x, " does not broadcast to ", rules::shape_text(a.shape), ".");
  return {TensorType(c.in[0].dtype, Shape(std::move(dims)))};
}

// dx = dy, summed over what was repeated
Tensors grad(const GradCall& c, const A&) {
  Tensors dx(c.node.in.size());
  dx[0] = prim::sum_to_like(c.dy[0], c.in(0));
  return dx;
}

}  // namespace
HORNGATE_PRIMITIVE(broadcast, {.infer = infer, .grad = grad})
}  // namespace horngate
