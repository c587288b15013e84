// tape(scan): a value of the scan's body, stacked over the steps along a new first axis. The gradient of a
// scan refers to the values it needs this way; planning turns all tapes of a scan into additional outputs,
// so the forward loop runs once. The cotangent of a tape goes into the gradient of the scan (see
// grad/reverse.cpp).
#include "prims/build.h"

namespace horngate {
static Types infer(const InferCall&, const attrs::tape& a) {
  TensorType t = type_of(a.inner.tensor);
  t.shape.dims().insert(t.shape.dims().begin(), a.length);
  return {t};
}
HORNGATE_PRIMITIVE(tape, {.infer = infer})
}  // namespace horngate
