// placeholder: a value that the caller feeds.
#include "prims/build.h"

namespace horngate {
static Types infer(const InferCall&, const attrs::placeholder& a) {
  return {TensorType(a.dtype, Shape(a.shape), a.sparse)};
}
HORNGATE_PRIMITIVE(placeholder, {.infer = infer})
}  // namespace horngate
