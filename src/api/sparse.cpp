// What K functions do with sparse tensors.
#include "api/sparse.h"

#include "api/args.h"
#include "horngate/ops/variables.h"

namespace horngate {

Tensor concatenate_sparse(const Tensors& tensors, int64_t axis) {
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = common_dtype(dtype, t.dtype());
  SmallVec<Tensor, 2> in;
  for (const Tensor& t : tensors) in.push_back(sparse_operand("concatenate", t, dtype));
  return emit(attrs::sparse_concat{.axis = axis}, std::move(in));
}

Tensor sparse_operand(std::string_view function, const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  check<TypeError>(x.node()->prim == Prim::variable, function,
                   "a sparse tensor must have the dtype of the result, ", dtype, "; got ",
                   x.dtype(), ".");
  return variable(x.node()->as<attrs::variable>().state->value.cast(dtype));
}

}  // namespace horngate
