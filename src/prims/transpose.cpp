// transpose: axis i of the result is axis perm[i] of x.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::transpose;

/// The permutation that undoes perm; fails if perm is not a permutation.
Ints inverse(const Ints& perm, size_t rank) {
  Ints result(rank, -1);
  bool ok = perm.size() == rank;
  for (size_t i = 0; ok && i < rank; ++i) {
    ok = perm[i] >= 0 && perm[i] < static_cast<int64_t>(rank) && result[perm[i]] < 0;
    if (ok) result[perm[i]] = static_cast<int64_t>(i);
  }
  check(ok, "transpose", "perm must be a permutation of the ", rank, " axes of x; got ", perm, ".");
  return result;
}

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("transpose", c);
  const Shape& x = c.in[0].shape;
  inverse(a.perm, x.ndim());
  Ints dims;
  for (int64_t axis : a.perm) dims.push_back(x.dim(axis));
  return {TensorType(c.in[0].dtype, Shape(std::move(dims)))};
}

// dx = dy with the axes put back
Tensors grad(const GradCall& c, const A& a) {
  return {prim::transpose(c.dy[0], inverse(a.perm, a.perm.size()))};
}

}  // namespace
HORNGATE_PRIMITIVE(transpose, {.infer = infer, .grad = grad})
}  // namespace horngate
