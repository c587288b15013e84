// parameter: what a scan passes to its body: a slice, a carry or the step index.
#include "prims/build.h"

namespace horngate {
static Types infer(const InferCall&, const attrs::parameter& a) {
  return {TensorType(a.dtype, Shape(a.shape))};
}
HORNGATE_PRIMITIVE(parameter, {.infer = infer})
}  // namespace horngate
