// sparse_transpose: a sparse matrix with rows and columns swapped; the result is sparse.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::sparse_transpose;

Types infer(const InferCall& c, const A&) {
  rules::check_sparse("sparse_transpose", "x", c.in[0]);
  const Shape& s = c.in[0].shape;
  return {TensorType(c.in[0].dtype, Shape(Ints{s.dim(1), s.dim(0)}), true)};
}

}  // namespace
// Sparse tensors are data: nothing flows back.
HORNGATE_PRIMITIVE(sparse_transpose, {.infer = infer, .flags = kNoGradient})
}  // namespace horngate
