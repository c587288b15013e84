// tape(scan): a value of the scan's body, stacked over the steps along a new first axis. The gradient of a
// scan refers to what it needs; planning gathers the tapes of a scan as further outputs of it, so the
// forward loop runs once. Its cotangent is injected into the gradient of the scan (see grad/reverse.cpp).
#include "prims/build.h"

namespace horngate {
static Types infer(const InferCall&, const attrs::tape& a) {
  TensorType t = type_of(a.inner.tensor);
  t.shape.dims().insert(t.shape.dims().begin(), a.length);
  return {t};
}
HORNGATE_PRIMITIVE(tape, {.infer = infer})
}  // namespace horngate
