// conv_input_grad(dy, kernel): the gradient of conv for x, which has the given shape (batch and
// channels too); also the transposed convolution.
#include "prims/conv_rules.h"

namespace horngate {
namespace {

using A = attrs::conv_input_grad;

Types infer(const InferCall& c, const A& a) {
  rules::check_conv_operands("conv_input_grad", c, "dy", "kernel");
  rules::check_shape_operand("conv_input_grad", c, a.shape, 2);
  rules::ConvShapes s{rules::open_shape(a.shape), c.in[1].shape, c.in[0].shape};
  rules::check_conv("conv_input_grad", rules::geometry_of(a), s);
  return {TensorType(c.in[0].dtype, s.x)};
}

// With u the cotangent of dx: d(dy) = conv(u, kernel), dkernel = conv_filter_grad(u, dy)
Tensors grad(const GradCall& c, const A& a) {
  const Tensor &dy = c.in(0), &kernel = c.in(1), &u = c.dy[0];
  return rules::conv_grads(c, rules::conv(a, u, kernel), rules::conv_filter_grad(a, u, dy, kernel));
}

}  // namespace
HORNGATE_PRIMITIVE(conv_input_grad, {.infer = infer, .grad = grad})
}  // namespace horngate
