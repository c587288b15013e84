// What K functions do with sparse tensors.
#pragma once

#include "horngate/tensor.h"

namespace horngate {

/// Joins matrices along an axis (0 or 1); the result is sparse.
Tensor concatenate_sparse(const Tensors& tensors, int64_t axis);

/// A sparse x in that dtype. A variable can be cast because its sparse value never changes; TypeError for
/// other tensors of another dtype.
Tensor sparse_operand(std::string_view function, const Tensor& x, DType dtype);

}  // namespace horngate
