// cast: x in another dtype. Integers are taken modulo 2^bits, floats are truncated, and anything but
// 0 is true. For floats that the integer dtype cannot hold see ir/convert_element.h.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::cast;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("cast", c);
  return {TensorType(a.dtype, c.in[0].shape)};
}

// dx = dy in the dtype of x; integers and bool have no derivative
Tensors grad(const GradCall& c, const A& a) {
  const DType from = c.in(0).dtype();
  if (!is_float(from) || !is_float(a.dtype)) return {Tensor()};
  return {prim::cast(c.dy[0], from)};
}

}  // namespace
HORNGATE_PRIMITIVE(cast, {.infer = infer, .grad = grad})
}  // namespace horngate
