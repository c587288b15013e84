// draw: (number of the call, step) of a random node; what makes each call draw other numbers.
#include "prims/build.h"

namespace horngate {
static Types infer(const InferCall&, const attrs::draw&) {
  return {TensorType(DType::uint64, {2})};
}
HORNGATE_PRIMITIVE(draw, {.infer = infer, .flags = kRandom | kNoGradient})
}  // namespace horngate
