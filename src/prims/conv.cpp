// conv: y[p, o] = sum of x[p * stride - low + t * dilation, c] * kernel[t, c, o] over taps t and
// channels c. x (n, spatial.., c) or, with channels_first, (n, c, spatial..); kernel (spatial.., c
// / groups, out).
#include "prims/conv_rules.h"

namespace horngate {
namespace {

using A = attrs::conv;

Types infer(const InferCall& c, const A& a) {
  rules::check_conv_operands("conv", c, "x", "kernel");
  const Shape open(Ints(c.in[0].shape.ndim(), Shape::kUnknown));
  rules::ConvShapes s{c.in[0].shape, c.in[1].shape, open};
  rules::check_conv("conv", rules::geometry_of(a), s);
  return {TensorType(c.in[0].dtype, s.y)};
}

// Linear in both: dx = conv_input_grad(dy, kernel), dkernel = conv_filter_grad(x, dy)
Tensors grad(const GradCall& c, const A& a) {
  const Tensor &x = c.in(0), &kernel = c.in(1), &dy = c.dy[0];
  return rules::conv_grads(c, rules::conv_input_grad(a, dy, kernel, x),
                           rules::conv_filter_grad(a, x, dy, kernel));
}

}  // namespace
HORNGATE_PRIMITIVE(conv, {.infer = infer, .grad = grad})
}  // namespace horngate
