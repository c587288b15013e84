// Reasons and remedies, primitive by primitive.
#include "grad/reasons.h"

namespace horngate {
namespace {

constexpr const char* kStraightThrough =
    "To train through it, let gradients bypass it: x + stop_gradient(y - x) has the value of y and "
    "the "
    "derivative of x";

}  // namespace

Reason reason_for_none(const Node& node) {
  switch (node.prim) {
    case Prim::argmax:
    case Prim::argmin:
      return {"it gives positions, which are integers",
              "Keep it for metrics; in a loss use softmax, or the max itself"};
    case Prim::eq:
    case Prim::ne:
    case Prim::lt:
    case Prim::le:
    case Prim::gt:
    case Prim::ge:
    case Prim::logical_and:
    case Prim::logical_or:
    case Prim::logical_not:
    case Prim::reduce_any:
    case Prim::reduce_all:
    case Prim::in_top_k:
      return {"it gives true or false, which a small step does not change",
              "Keep it for metrics and masks; in a loss use a smooth form such as sigmoid(x - y), "
              "or switch, which passes gradients to the tensors that it chooses from"};
    case Prim::floor:
    case Prim::floordiv:
    case Prim::round: return {"it is flat between its jumps", kStraightThrough};
    case Prim::stop_gradient:
      return {"blocking gradients is its purpose", "Leave it out where the gradient is wanted"};
    case Prim::cast:
      return {"integers and bool have no derivative", "Compute the loss from the floats before it"};
    case Prim::shape_of:
      return {"only the shape is used, not the values", "Compute the loss from the values"};
    case Prim::random_uniform:
    case Prim::random_normal:
    case Prim::random_truncated_normal:
    case Prim::random_bernoulli:
      return {"random numbers do not depend on the arguments",
              "Scale and shift them afterwards: mean + stddev * random_normal(shape)"};
    case Prim::assign:
      return {"an update changes a variable and is no part of the loss",
              "Compute the loss from the value that the update takes"};
    case Prim::ctc_greedy:
    case Prim::ctc_beam: return {"decoding gives labels", "Train with ctc_batch_cost"};
    case Prim::ctc_loss:
      return {"labels and lengths are data", "Differentiate with respect to the predictions"};
    case Prim::sparse_dot:
    case Prim::to_dense:
    case Prim::sparse_concat:
    case Prim::sparse_transpose:
    case Prim::labels_to_sparse:
      return {"sparse tensors are data and have no gradient", "Use a dense tensor in its place"};
    case Prim::after:
      return {"it only waits for the update",
              "Compute the loss from the value that the update takes"};
    case Prim::pool_grad:
    case Prim::ctc_loss_grad:
      return {"its second derivative is zero", "Use a smooth function, such as average pooling"};
    default: return {"it passes no gradient to this argument", "Compute the loss without it"};
  }
}

Reason reason_for_zero(const Node& node) {
  switch (node.prim) {
    case Prim::sign: return {"it is flat on both sides of zero", kStraightThrough};
    case Prim::mul:
    case Prim::div:
    case Prim::dot_general:
    case Prim::conv:
      return {"the other operand is a constant zero", "Find out where that comes from"};
    case Prim::cond:
    case Prim::select:
    case Prim::phase:
      return {"no branch of it passes anything on",
              "Check whether the branches use the tensor differentiably"};
    default: return {"its derivative is zero", "Compute the loss without it"};
  }
}

bool may_pass_nothing(Prim prim) {
  switch (prim) {
    case Prim::maximum:
    case Prim::minimum:
    case Prim::select:
    case Prim::cond:
    case Prim::phase:
    case Prim::reduce_max:
    case Prim::reduce_min:
    case Prim::gather: return true;
    default: return false;
  }
}

}  // namespace horngate
