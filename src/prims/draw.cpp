// draw: (number of the call, step) of a random node; makes each call draw different numbers.
#include "prims/build.h"

namespace horngate {
static Types infer(const InferCall&, const attrs::draw&) {
  return {TensorType(DType::uint64, {2})};
}
HORNGATE_PRIMITIVE(draw, {.infer = infer, .flags = kRandom | kNoGradient})
}  // namespace horngate
