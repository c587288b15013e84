// constant: an array that is part of the program.
#include "prims/build.h"

namespace horngate {
static Types infer(const InferCall&, const attrs::constant& a) {
  return {TensorType(a.value.dtype(), a.value.shape())};
}
HORNGATE_PRIMITIVE(constant, {.infer = infer})
}  // namespace horngate
