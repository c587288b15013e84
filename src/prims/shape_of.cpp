// shape_of: the shape of x as 1-D int64. Planning replaces it with numbers.
#include "prims/rules.h"

namespace horngate {
namespace {

Types infer(const InferCall& c, const attrs::shape_of&) {
  return {TensorType(DType::int64, Shape{c.in[0].shape.ndim()})};
}

}  // namespace
HORNGATE_PRIMITIVE(shape_of, {.infer = infer, .flags = kNoGradient})
}  // namespace horngate
