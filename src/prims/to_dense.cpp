// to_dense: a sparse matrix with its zeros written out.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::to_dense;

Types infer(const InferCall& c, const A&) {
  rules::check_sparse("to_dense", "x", c.in[0]);
  return {TensorType(c.in[0].dtype, c.in[0].shape)};
}

}  // namespace
// Sparse tensors are data: nothing flows back.
HORNGATE_PRIMITIVE(to_dense, {.infer = infer, .flags = kNoGradient})
}  // namespace horngate
