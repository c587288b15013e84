// Products, transpose and lookup.
#include "horngate/ops/linalg.h"

#include "api/args.h"
#include "api/sparse.h"
#include "horngate/config.h"
#include "prims/rules.h"

namespace horngate {
namespace {

void check_same_length(std::string_view function, const Tensor& x, int64_t axis_x, const Tensor& y,
                       int64_t axis_y) {
  const int64_t nx = x.shape().dim(static_cast<size_t>(axis_x));
  const int64_t ny = y.shape().dim(static_cast<size_t>(axis_y));
  check(rules::same_dim(nx, ny) != rules::kConflict, function,
        "the summed axes must have the same length; got ", nx, " (axis ", axis_x, " of x, shape ",
        x.shape(), ") and ", ny, " (axis ", axis_y, " of y, shape ", y.shape(), ").");
}

/// One dtype for both factors; bool is not allowed.
void unify_factors(std::string_view function, Tensor* x, Tensor* y) {
  unify(function, x, y);
  if (x->dtype() != DType::bool_) return;
  *x = prim::cast(*x, floatx());
  *y = prim::cast(*y, floatx());
}

Tensor dot_sparse(const Tensor& x, const Tensor& y) {
  const Tensor b = numeric_operand("dot", y, "y");
  check(x.ndim() == 2 && b.ndim() == 2, "dot",
        "a sparse x and y must have 2 dimensions each; got shapes ", x.shape(), " and ", b.shape(),
        ".");
  check_same_length("dot", x, 1, b, 0);
  const DType dtype = common_dtype(x.dtype(), b.dtype());
  return emit(attrs::sparse_dot{}, {sparse_operand("dot", x, dtype), prim::cast(b, dtype)});
}

}  // namespace

Tensor dot(const Tensor& x, const Tensor& y) {
  const CalledAs called(__func__);
  if (x.is_sparse()) return dot_sparse(x, y);
  Tensor a = dense_operand("dot", x), b = dense_operand("dot", y, "y");
  check(a.ndim() > 0 && b.ndim() > 0, "dot", "x and y must have at least 1 dimension; got shapes ",
        a.shape(), " and ", b.shape(), ".");
  const auto rank_a = static_cast<int64_t>(a.ndim()), rank_b = static_cast<int64_t>(b.ndim());
  const int64_t axis_a = rank_a - 1, axis_b = rank_b == 1 ? 0 : rank_b - 2;
  check_same_length("dot", a, axis_a, b, axis_b);
  unify_factors("dot", &a, &b);
  return prim::dot_general(a, b, {}, {}, {axis_a}, {axis_b});
}

Tensor batch_dot(const Tensor& x, const Tensor& y, const Axis& axes) {
  const CalledAs called(__func__);
  Tensor a = dense_operand("batch_dot", x), b = dense_operand("batch_dot", y, "y");
  const auto rank_a = static_cast<int64_t>(a.ndim()), rank_b = static_cast<int64_t>(b.ndim());
  check(rank_a >= 2 && rank_b >= 2, "batch_dot",
        "x and y must have at least 2 dimensions; got shapes ", a.shape(), " and ", b.shape(), ".");
  check(rules::same_dim(a.shape().dim(0), b.shape().dim(0)) != rules::kConflict, "batch_dot",
        "x and y must have the same batch size; got shapes ", a.shape(), " and ", b.shape(), ".");
  Ints pair{rank_a - 1, rank_b == 2 ? 1 : rank_b - 2};
  if (!axes.all()) {
    pair = axes.axes();
    check(pair.size() == 1 || pair.size() == 2, "batch_dot",
          "axes must be one axis or a pair of them; got ", pair, ".");
    if (pair.size() == 1) pair.push_back(pair[0]);
  }
  const Ints given = pair;
  pair[0] = normalize_axis("batch_dot", pair[0], a.shape(), "axes[0]", "x");
  pair[1] = normalize_axis("batch_dot", pair[1], b.shape(), "axes[1]", "y");
  check(pair[0] != 0 && pair[1] != 0, "batch_dot", "axes must not name axis 0, the batch; got ",
        given, ". expand_dims(x, 0) gives x a batch axis.");
  check_same_length("batch_dot", a, pair[0], b, pair[1]);
  unify_factors("batch_dot", &a, &b);
  const Tensor z = prim::dot_general(a, b, {0}, {0}, {pair[0]}, {pair[1]});
  return z.ndim() == 1 ? prim::expand_dims(z, {1}) : z;
}

Tensor transpose(const Tensor& x) {
  const CalledAs called(__func__);
  if (x.is_sparse()) return emit(attrs::sparse_transpose{}, {x});
  const Tensor t = dense_operand("transpose", x);
  Ints perm;
  for (size_t i = t.ndim(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  return own(called, prim::transpose(t, perm));
}

Tensor gather(const Tensor& reference, const Tensor& indices) {
  const CalledAs called(__func__);
  const Tensor x = dense_operand("gather", reference, "reference");
  check(x.ndim() > 0, "gather", "reference must have at least 1 dimension; got a scalar.");
  return prim::gather(x, index_operand("gather", indices), 0);
}

}  // namespace horngate
