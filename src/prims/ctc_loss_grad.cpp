// ctc_loss_grad: gradient of ctc_loss for inputs, times dloss (batch,), the fifth operand:
//   dx[b, t, k] = dloss[b] (softmax(x[b, t])[k] - p(class k at step t | labels[b]))
// zero where the loss is infinite and for t >= input_length[b].
#include "prims/ctc.h"

namespace horngate {
namespace {

using A = attrs::ctc_loss_grad;

Types infer(const InferCall& c, const A&) {
  Shape inputs = rules::check_ctc_loss("ctc_loss_grad", c);
  const TensorType& dloss = c.in[4];
  check(dloss.dtype == c.in[0].dtype && dloss.shape.ndim() == 1 &&
            rules::same_dim(inputs.dim(0), dloss.shape.dim(0)) != rules::kConflict,
        "ctc_loss_grad", "dloss must be ", c.in[0].dtype, " with one entry per sample of inputs ",
        inputs, "; got ", dloss.dtype, " of shape ", dloss.shape, ".");
  inputs.dims()[0] = rules::same_dim(inputs.dim(0), dloss.shape.dim(0));
  return {TensorType(c.in[0].dtype, std::move(inputs))};
}

// Through the loss built from simple primitives: its gradient equals this node and can be differentiated.
Tensors grad(const GradCall& c, const A&) {
  const Tensor &x = c.in(0), &dloss = c.in(4);
  const Tensor loss = rules::ctc_loss_of_parts(x, c.in(1), c.in(2), c.in(3));
  const Tensor dx = c.reverse({loss}, {dloss}, {x}, true)[0];
  const Tensors d = c.reverse({dx}, {c.dy[0]}, {x, dloss}, true);
  return {d[0], {}, {}, {}, d[1]};
}

}  // namespace
HORNGATE_PRIMITIVE(ctc_loss_grad, {.infer = infer, .grad = grad})
}  // namespace horngate
