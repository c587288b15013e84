// iota: 0, 1, .. n - 1 as a 1-D tensor.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::iota;

Types infer(const InferCall& c, const A& a) {
  rules::check_kind("iota", "dtype", a.dtype, rules::Kind::number);
  rules::check_shape_operand("iota", c, a.shape, 0);
  check(a.shape.size() == 1, "iota", "shape must have one entry; got ", rules::shape_text(a.shape),
        ".");
  const int64_t n = a.shape[0];
  check(n >= 0 || n == kFromOperand, "iota", "shape must have entries of at least 0; got ",
        rules::shape_text(a.shape), ".");
  return {TensorType(a.dtype, Shape(Ints{n < 0 ? Shape::kUnknown : n}))};
}

}  // namespace
HORNGATE_PRIMITIVE(iota, {.infer = infer, .flags = kNoGradient})
}  // namespace horngate
