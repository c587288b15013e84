// labels_to_sparse: the first lengths[i] entries of row i of a dense matrix (samples, longest), as a sparse
// matrix. Zeros among them are kept; a length beyond the row takes all of it.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::labels_to_sparse;

Types infer(const InferCall& c, const A&) {
  rules::check_dense("labels_to_sparse", c);
  rules::check_rank("labels_to_sparse", "labels", c.in[0].shape, 2);
  rules::check_index("labels_to_sparse", "lengths", c.in[1].dtype);
  rules::check_rank("labels_to_sparse", "lengths", c.in[1].shape, 1);
  Shape shape = c.in[0].shape;
  const int64_t rows = rules::same_dim(shape.dim(0), c.in[1].shape.dim(0));
  check(rows != rules::kConflict, "labels_to_sparse",
        "lengths must have one entry per row of labels ", shape, "; got shape ", c.in[1].shape,
        ".");
  shape.dims()[0] = rows;
  return {TensorType(c.in[0].dtype, std::move(shape), true)};
}

}  // namespace
// Sparse tensors are data: nothing flows back.
HORNGATE_PRIMITIVE(labels_to_sparse, {.infer = infer, .flags = kNoGradient})
}  // namespace horngate
