// reshape: the same elements in the same order under another shape.
#include <algorithm>

#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::reshape;

/// Product of the entries that are numbers, and how many are not.
struct Known {
  int64_t product;
  int64_t open;
};
Known known_part(const Ints& dims) {
  Ints numbers;
  for (int64_t d : dims)
    if (d >= 0) numbers.push_back(d);
  return {checked_product({numbers.data(), numbers.size()}),
          static_cast<int64_t>(dims.size() - numbers.size())};
}

/// `n` elements (or a multiple of n when x has None) must be a multiple of `part`, or vice versa.
void check_multiple(const Shape& x, const Ints& target, int64_t n, int64_t part) {
  const bool ok = part == 0 ? n == 0 : n % part == 0;
  if (ok) return;
  const std::string to = rules::shape_text(target);
  if (x.is_static())
    fail("reshape", x, " has ", x.size(), " elements and cannot become ", to, ": ", n,
         " is not a multiple of ", part, ".");
  fail("reshape", x, " cannot become ", to, ": ", n, " is not a multiple of ", part, ".");
}

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("reshape", InferCall{c.in.first(1), {}});
  rules::check_shape_operand("reshape", c, a.shape, 1);
  const Shape& x = c.in[0].shape;
  for (int64_t d : a.shape)
    check(d >= 0 || d == kInfer || d == kFromOperand, "reshape",
          "shape must have entries of at least 0, or one -1; got ", rules::shape_text(a.shape),
          ".");
  check(std::count(a.shape.begin(), a.shape.end(), kInfer) <= 1, "reshape",
        "shape must have at most one -1; got ", rules::shape_text(a.shape), ".");

  const Known from = known_part(x.dims()), to = known_part(a.shape);
  Ints dims = a.shape;
  for (int64_t& d : dims)
    if (d < 0) d = Shape::kUnknown;
  if (from.open == 0 && to.open == 0) {
    check(from.product == to.product, "reshape", x, " has ", from.product,
          " elements and cannot become ", rules::shape_text(a.shape), ", which has ", to.product,
          ".");
  } else if (from.open == 0) {
    check_multiple(x, a.shape, from.product, to.product);
    // A single unknown entry follows from the rest. Beside a 0 any number would fit, so -1 means 0.
    if (to.open == 1 && to.product != 0)
      *std::find(dims.begin(), dims.end(), Shape::kUnknown) = from.product / to.product;
    else if (auto at = std::find(a.shape.begin(), a.shape.end(), kInfer);
             to.product == 0 && at != a.shape.end())
      dims[static_cast<size_t>(at - a.shape.begin())] = 0;
  } else if (to.open == 0 && from.product != 0) {
    check_multiple(x, a.shape, to.product, from.product);
  }
  return {TensorType(c.in[0].dtype, Shape(std::move(dims)))};
}

// dx = dy under the shape of x
Tensors grad(const GradCall& c, const A&) {
  Tensors dx(c.node.in.size());
  dx[0] = prim::reshape_like(c.dy[0], c.in(0));
  return dx;
}

}  // namespace
HORNGATE_PRIMITIVE(reshape, {.infer = infer, .grad = grad})
}  // namespace horngate
