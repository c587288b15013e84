// sparse_concat: sparse matrices one after the other along axis 0 or 1; the result is sparse.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::sparse_concat;

Types infer(const InferCall& c, const A& a) {
  check(a.axis == 0 || a.axis == 1, "sparse_concat", "axis must be 0 or 1; got axis=", a.axis, ".");
  const size_t joined = static_cast<size_t>(a.axis), other = 1 - joined;
  TensorType out = c.in[0];
  for (size_t i = 0; i < c.in.size(); ++i) {
    const TensorType& t = c.in[i];
    rules::check_sparse("sparse_concat", "tensors", t);
    check<TypeError>(t.dtype == out.dtype, "sparse_concat",
                     "tensors must have the same dtype; got ", out.dtype, " and ", t.dtype, ".");
    Ints& dims = out.shape.dims();
    const int64_t same = rules::same_dim(dims[other], t.shape.dim(other));
    check(same != rules::kConflict, "sparse_concat", "shapes must agree except on axis=", a.axis,
          "; got ", c.in[0].shape, " and ", t.shape, ", which differ on axis ", other, ".");
    dims[other] = same;
    if (i == 0) continue;
    const bool known = dims[joined] >= 0 && t.shape.dim(joined) >= 0;
    dims[joined] = known ? dims[joined] + t.shape.dim(joined) : Shape::kUnknown;
  }
  return {out};
}

}  // namespace
// Sparse tensors are data: nothing flows back.
HORNGATE_PRIMITIVE(sparse_concat, {.infer = infer, .flags = kNoGradient})
}  // namespace horngate
