// conv_filter_grad(x, dy): the gradient of conv for its kernel, which has the given shape.
#include "prims/conv_rules.h"

namespace horngate {
namespace {

using A = attrs::conv_filter_grad;

Types infer(const InferCall& c, const A& a) {
  rules::check_conv_operands("conv_filter_grad", c, "x", "dy");
  rules::check_shape_operand("conv_filter_grad", c, a.shape, 2);
  rules::ConvShapes s{c.in[0].shape, rules::open_shape(a.shape), c.in[1].shape};
  rules::check_conv("conv_filter_grad", rules::geometry_of(a), s);
  return {TensorType(c.in[0].dtype, s.kernel)};
}

// With u the cotangent of dkernel: dx = conv_input_grad(dy, u), d(dy) = conv(x, u)
Tensors grad(const GradCall& c, const A& a) {
  const Tensor &x = c.in(0), &dy = c.in(1), &u = c.dy[0];
  return rules::conv_grads(c, rules::conv_input_grad(a, dy, u, x), rules::conv(a, x, u));
}

}  // namespace
HORNGATE_PRIMITIVE(conv_filter_grad, {.infer = infer, .grad = grad})
}  // namespace horngate
