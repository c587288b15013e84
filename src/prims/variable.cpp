// variable: a value that lives between calls.
#include "prims/build.h"

namespace horngate {
static Types infer(const InferCall&, const attrs::variable& a) { return {a.state->type}; }
HORNGATE_PRIMITIVE(variable, {.infer = infer})
}  // namespace horngate
