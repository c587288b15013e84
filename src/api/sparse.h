// Sparse variables made of others. Their data never changes, so the new ones are made at once.
#pragma once

#include "horngate/tensor.h"

namespace horngate {

/// Matrices one after the other along an axis (0 or 1). Of sparse variables the result is a sparse
/// variable; sparse placeholders have no data yet, so that the result is dense then.
Tensor concatenate_sparse(const Tensors& tensors, int64_t axis);

/// The transpose of a sparse variable; TypeError for other sparse tensors.
Tensor transpose_sparse(const Tensor& x);

/// A sparse x for a product in that dtype; TypeError when it is not a variable and would have to be
/// cast.
Tensor sparse_factor(std::string_view function, const Tensor& x, DType dtype);

}  // namespace horngate
