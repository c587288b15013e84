// learning_phase: true while training; part of the plan's key and so a constant in every plan.
#include "prims/build.h"

namespace horngate {
static Types infer(const InferCall&, const attrs::learning_phase&) {
  return {TensorType(DType::bool_, {})};
}
HORNGATE_PRIMITIVE(learning_phase, {.infer = infer, .flags = kNoGradient})
}  // namespace horngate
