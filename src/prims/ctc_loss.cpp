// ctc_loss: loss[b] = -log p(labels[b] | inputs[b]), where p sums over all ways to spell the
// labels, with blanks and repeats, in input_length[b] steps; each step draws a class from
// softmax(inputs[b, t]). The blank is the last class. Operands: inputs (batch, time, classes),
// labels (batch, max_labels), input_length (batch,), label_length (batch,). Labels that do not fit
// give +inf.
#include "prims/ctc.h"

namespace horngate {
namespace {

using A = attrs::ctc_loss;

Types infer(const InferCall& c, const A&) {
  const Shape inputs = rules::check_ctc_loss("ctc_loss", c);
  return {TensorType(c.in[0].dtype, Shape(Ints{inputs.dim(0)}))};
}

Tensors grad(const GradCall& c, const A&) {
  return {emit(attrs::ctc_loss_grad{}, {c.in(0), c.in(1), c.in(2), c.in(3), c.dy[0]}), {}, {}, {}};
}

}  // namespace
HORNGATE_PRIMITIVE(ctc_loss, {.infer = infer, .grad = grad})
}  // namespace horngate
