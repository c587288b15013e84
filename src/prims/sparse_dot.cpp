// sparse_dot: a b, or a^T b, for a sparse (m, k) matrix a and a dense matrix b.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::sparse_dot;

Types infer(const InferCall& c, const A& a) {
  const TensorType &x = c.in[0], &b = c.in[1];
  check<TypeError>(x.sparse && !b.sparse, "sparse_dot", "a must be sparse and b dense; got a ",
                   x.sparse ? "sparse" : "dense", " and b ", b.sparse ? "sparse" : "dense", ".");
  rules::check_rank("sparse_dot", "a", x.shape, 2);
  rules::check_rank("sparse_dot", "b", b.shape, 2);
  check<TypeError>(x.dtype == b.dtype && (b.dtype == DType::float32 || b.dtype == DType::float64),
                   "sparse_dot", "a and b must both be float32 or float64; got ", x.dtype, " and ",
                   b.dtype, ".");
  const size_t inner = a.transpose_a ? 0 : 1;
  check(rules::same_dim(x.shape.dim(inner), b.shape.dim(0)) != rules::kConflict, "sparse_dot",
        "axis ", inner, " of a with shape ", x.shape, " and axis 0 of b with shape ", b.shape,
        " must have the same size.");
  return {TensorType(b.dtype, Shape(Ints{x.shape.dim(1 - inner), b.shape.dim(1)}))};
}

// db = a^T dy; a is data and has no gradient
Tensors grad(const GradCall& c, const A& a) {
  return {Tensor(), emit(A{.transpose_a = !a.transpose_a}, {c.in(0), c.dy[0]})};
}

}  // namespace
HORNGATE_PRIMITIVE(sparse_dot, {.infer = infer, .grad = grad})
}  // namespace horngate
