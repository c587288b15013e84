// in_top_k: for each row of predictions (n, classes), whether fewer than k classes score higher
// than the target. Ties count as in. False where the target is not a class or a prediction is not
// finite.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::in_top_k;

Types infer(const InferCall& c, const A&) {
  rules::check_dense("in_top_k", c);
  const Shape &predictions = c.in[0].shape, &targets = c.in[1].shape;
  rules::check_kind("in_top_k", "predictions", c.in[0].dtype, rules::Kind::floats);
  rules::check_index("in_top_k", "targets", c.in[1].dtype);
  rules::check_rank("in_top_k", "predictions", predictions, 2);
  rules::check_rank("in_top_k", "targets", targets, 1);
  const int64_t n = rules::same_dim(predictions.dim(0), targets.dim(0));
  check(n != rules::kConflict, "in_top_k",
        "predictions and targets must have the same number of rows; got shapes ", predictions,
        " and ", targets, ".");
  return {TensorType(DType::bool_, Shape(Ints{n}))};
}

}  // namespace
HORNGATE_PRIMITIVE(in_top_k, {.infer = infer, .flags = kNoGradient})
}  // namespace horngate
