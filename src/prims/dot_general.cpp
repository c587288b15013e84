// dot_general: sums of products over pairs of contracted axes, for each entry of paired batch axes.
// Axes of the result: batch, free axes of a, free axes of b.
#include <algorithm>

#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::dot_general;

bool contains(const Ints& v, int64_t x) { return std::find(v.begin(), v.end(), x) != v.end(); }

/// Axes of an operand of that rank that are in neither `x` nor `y`, ascending.
Ints other_axes(size_t rank, const Ints& x, const Ints& y) {
  Ints r;
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i)
    if (!contains(x, i) && !contains(y, i)) r.push_back(i);
  return r;
}

/// first, first + 1, .. for `count` axes of the result.
Ints counted(size_t first, size_t count) {
  Ints r;
  for (size_t i = 0; i < count; ++i) r.push_back(static_cast<int64_t>(first + i));
  return r;
}

void check_axes(const char* what, const Ints& axes, const Ints& others, const Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.ndim());
  for (size_t i = 0; i < axes.size(); ++i) {
    check(axes[i] >= 0 && axes[i] < rank, "dot_general", what, " must be in [0, ", rank,
          ") for an operand of shape ", shape, "; got ", axes, ".");
    bool repeated = contains(others, axes[i]);
    for (size_t j = 0; j < i; ++j) repeated = repeated || axes[j] == axes[i];
    check(!repeated, "dot_general", "each axis may be batch or contracted only once; got ", axes,
          " and ", others, ".");
  }
}

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("dot_general", c);
  const Shape &x = c.in[0].shape, &y = c.in[1].shape;
  check<TypeError>(c.in[0].dtype == c.in[1].dtype, "dot_general",
                   "operands must have the same dtype; got ", c.in[0].dtype, " and ", c.in[1].dtype,
                   ".");
  rules::check_kind("dot_general", "operands", c.in[0].dtype, rules::Kind::number);
  check(a.batch_a.size() == a.batch_b.size() && a.contract_a.size() == a.contract_b.size(),
        "dot_general", "axes must come in pairs; got batch ", a.batch_a, " and ", a.batch_b,
        ", contract ", a.contract_a, " and ", a.contract_b, ".");
  check_axes("batch_a", a.batch_a, a.contract_a, x);
  check_axes("contract_a", a.contract_a, {}, x);
  check_axes("batch_b", a.batch_b, a.contract_b, y);
  check_axes("contract_b", a.contract_b, {}, y);
  const auto paired = [&](int64_t i, int64_t j) {
    const int64_t d = rules::same_dim(x.dim(static_cast<size_t>(i)), y.dim(static_cast<size_t>(j)));
    check(d != rules::kConflict, "dot_general", "axis ", i, " of shape ", x, " and axis ", j,
          " of shape ", y, " must have the same size.");
    return d;
  };
  Ints dims;
  for (size_t i = 0; i < a.batch_a.size(); ++i) dims.push_back(paired(a.batch_a[i], a.batch_b[i]));
  for (size_t i = 0; i < a.contract_a.size(); ++i) paired(a.contract_a[i], a.contract_b[i]);
  for (int64_t i : other_axes(x.ndim(), a.batch_a, a.contract_a))
    dims.push_back(x.dim(static_cast<size_t>(i)));
  for (int64_t i : other_axes(y.ndim(), a.batch_b, a.contract_b))
    dims.push_back(y.dim(static_cast<size_t>(i)));
  return {TensorType(c.in[0].dtype, Shape(std::move(dims)))};
}

/// One operand of the product, and the roles of its axes.
struct Side {
  const Tensor& tensor;
  Ints batch, contract, free;
  Ints dy;  // where its free axes are in dy
};

bool is_identity(const Ints& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

/// The gradient of `to`: dy and the other operand, contracted over the other's free axes. What
/// remains are the batch, the free axes of `to` (in dy) and the contracted axes (in the other).
/// Either order of the product is right; the one that needs no transposition is taken.
Tensor grad_of(const Side& to, const Side& other, const Tensor& dy) {
  // Axes of `to` that match the contracted axes of the other, in the order in which those remain.
  Ints remaining;
  for (int64_t axis : other_axes(other.tensor.ndim(), other.batch, other.free))
    for (size_t i = 0; i < other.contract.size(); ++i)
      if (other.contract[i] == axis) remaining.push_back(to.contract[i]);
  const Ints batch = counted(0, to.batch.size());
  const auto perm_for = [&](const Ints& second, const Ints& third) {
    Ints order = to.batch, perm(to.tensor.ndim(), 0);
    for (int64_t i : second) order.push_back(i);
    for (int64_t i : third) order.push_back(i);
    for (size_t i = 0; i < order.size(); ++i)
      perm[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    return perm;
  };
  const Ints dy_first = perm_for(to.free, remaining), other_first = perm_for(remaining, to.free);
  if (!is_identity(dy_first) && is_identity(other_first))
    return prim::dot_general(other.tensor, dy, other.batch, batch, other.free, other.dy);
  return prim::transpose(
      prim::dot_general(dy, other.tensor, batch, other.batch, other.dy, other.free), dy_first);
}

// In the matrix case: da = dy b^T, db = a^T dy
Tensors grad(const GradCall& c, const A& a) {
  const Tensor &x = c.in(0), &y = c.in(1);
  Side sx{x, a.batch_a, a.contract_a, other_axes(x.ndim(), a.batch_a, a.contract_a), {}};
  Side sy{y, a.batch_b, a.contract_b, other_axes(y.ndim(), a.batch_b, a.contract_b), {}};
  sx.dy = counted(a.batch_a.size(), sx.free.size());
  sy.dy = counted(a.batch_a.size() + sx.free.size(), sy.free.size());
  return {grad_of(sx, sy, c.dy[0]), grad_of(sy, sx, c.dy[0])};
}

}  // namespace
HORNGATE_PRIMITIVE(dot_general, {.infer = infer, .grad = grad})
}  // namespace horngate
