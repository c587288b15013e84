// What K functions do with sparse tensors.
#pragma once

#include "horngate/tensor.h"

namespace horngate {

/// Matrices one after the other along an axis (0 or 1), sparse again.
Tensor concatenate_sparse(const Tensors& tensors, int64_t axis);

/// A sparse x in that dtype: a variable is cast, which never changes; TypeError for other tensors that are of
/// another dtype.
Tensor sparse_operand(std::string_view function, const Tensor& x, DType dtype);

}  // namespace horngate
