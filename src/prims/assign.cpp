// assign(variable, x): the variable's new value, by kind: set: x; add: v + x; sub: v - x; lerp: v * momentum + x
// * (1 - momentum). Resolved when a function is made. If x has unknown dimensions, a node that stands for x
// stays in the graph and checks them when a plan is made.
#include "prims/build.h"

namespace horngate {
static Types infer(const InferCall& c, const attrs::assign& a) {
  const TensorType &v = c.in[0], &x = c.in[1];
  const std::string name = a.kind == "set"    ? "update"
                           : a.kind == "lerp" ? "moving_average_update"
                                              : "update_" + a.kind;
  check<TypeError>(v.dtype == x.dtype, name, "the variable has dtype ", v.dtype,
                   " but the value has ", x.dtype, ".");
  bool fits = x.shape.ndim() <= v.shape.ndim();
  for (size_t i = 0; fits && i < x.shape.ndim(); ++i) {
    const int64_t want = v.shape.dim(v.shape.ndim() - 1 - i),
                  got = x.shape.dim(x.shape.ndim() - 1 - i);
    fits = got < 0 || got == want || (got == 1 && a.kind != "set");
  }
  check(fits && (a.kind != "set" || x.shape.ndim() == v.shape.ndim()), name,
        "the variable has shape ", v.shape, " but the value has ", x.shape, ".");
  return {v};
}
HORNGATE_PRIMITIVE(assign, {.infer = infer, .flags = kEffect | kNoGradient})
}  // namespace horngate
