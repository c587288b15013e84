// What batch_norm and batch_norm_grad share: the shape of the kept axes.
#pragma once

#include "prims/rules.h"

namespace horngate::rules {

/// The shape of x without `axes`, which must be sorted.
inline Shape kept_shape(const char* name, const TensorType& x, const Ints& axes) {
  const InferCall one{{&x, 1}, {}};
  return infer_reduction(name, one, axes, false, Kind::floats)[0].shape;
}

inline void check_per_channel(const char* name, const char* what, const TensorType& t,
                              const TensorType& x, const Shape& wanted) {
  check<TypeError>(t.dtype == x.dtype, name, "x and ", what, " must have the same dtype; got ",
                   x.dtype, " and ", t.dtype, ".");
  bool same = t.shape.ndim() == wanted.ndim();
  for (size_t i = 0; same && i < wanted.ndim(); ++i)
    same = same_dim(t.shape.dim(i), wanted.dim(i)) != kConflict;
  check(same, name, what, " must have shape ", wanted, " for x of shape ", x.shape, "; got ",
        t.shape, ".");
}

}  // namespace horngate::rules
