// after(x, updates..): x once the updates are done: the new value if x is a variable that one of them
// changes, else x. Reaching it makes the updates run.
#include "prims/build.h"

namespace horngate {
namespace {

Types infer(const InferCall& c, const attrs::after&) { return {c.in[0]}; }

Tensors grad(const GradCall& c, const attrs::after&) {
  Tensors dx(c.node.in.size());
  dx[0] = c.dy[0];
  return dx;
}

}  // namespace
HORNGATE_PRIMITIVE(after, {.infer = infer, .grad = grad})
}  // namespace horngate
