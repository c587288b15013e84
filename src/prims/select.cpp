// select: y = a where the condition holds, else b.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::select;

Types infer(const InferCall& c, const A&) {
  const char* name = rules::kName<A>;
  rules::check_kind(name, "condition", c.in[0].dtype, rules::Kind::boolean);
  Types out = rules::infer_binary(name, InferCall{c.in.subspan(1), {}}, rules::Kind::any);
  rules::check_dense(name, c);
  out[0].shape = rules::broadcast_shapes(name, c.in[0].shape, out[0].shape);
  return out;
}

// da = dy where the condition holds, else 0; db = dy where it does not
Tensors grad(const GradCall& c, const A&) {
  const Tensor &on = c.in(0), &dy = c.dy[0], zero = rules::zero_of(dy);
  return {Tensor(), prim::sum_to_like(prim::select(on, dy, zero), c.in(1)),
          prim::sum_to_like(prim::select(on, zero, dy), c.in(2))};
}

}  // namespace
HORNGATE_PRIMITIVE(select, {.infer = infer, .grad = grad})
}  // namespace horngate
