// Builders: one function per primitive, for gradients, decompositions and src/api. They check that the
// dtypes agree, apply local simplifications (x * 1, reshape of a reshape) and make the node.
// Operands must already have equal dtypes; src/api inserts the casts that K functions promise.
#pragma once

#include <span>

#include "ir/primitive.h"

namespace horngate {

/// emit(attrs::softmax{.axis = 1}, {x}): the node as it is, without simplification.
template <class A>
Tensor emit(A a, SmallVec<Tensor, 2> in, SmallVec<BodyRef, 0> bodies = {},
            std::string_view name = {}) {
  if constexpr (std::is_empty_v<A>)
    return make_node(A::kPrim, std::move(in), {}, std::move(bodies), name);
  else
    return make_node(A::kPrim, std::move(in), AttrRef(new AttrsOf<A>(std::move(a))),
                     std::move(bodies), name);
}

/// A shape made of numbers, kInfer and scalars of the graph; the API's ShapeArg becomes one. `dims`
/// holds kFromOperand where only `operand` (1-D int64, the whole shape) knows.
struct SymShape {
  Ints dims;
  Tensor operand;
  bool is_static() const { return !operand.defined(); }
};

namespace prim {

// Constants and symbolic shapes.
Tensor constant(const Array& value, std::string_view name = {});
Tensor scalar(double value, DType dtype);
Tensor zeros_like(const Tensor& x);
Tensor full_like(const Tensor& x, double value);
Tensor full(const SymShape& shape, double value, DType dtype);
/// The constant with one element that t is, or is a broadcast of; null if there is none.
const Array* scalar_constant(const Tensor& t);
/// Whether there is one; gives its value.
bool is_scalar_constant(const Tensor& t, double* value = nullptr);
/// Shape of x as 1-D int64; a constant when all dimensions are known.
Tensor shape_of(const Tensor& x);
/// Shape of x, symbolic only where it is None.
SymShape sym_shape(const Tensor& x);
/// The integers of a small constant or of shape arithmetic, kFromOperand where unknown. False when t is
/// not 0-D or 1-D of known length.
bool known_ints(const Tensor& t, Ints* out);

// Element-wise.
#define UNARY(name, cost) Tensor name(const Tensor& x);
#define BINARY(name, cost) Tensor name(const Tensor& a, const Tensor& b);
#define PRIM(name, how, attributes)
#include "ir/prims.def"
Tensor stop_gradient(const Tensor& x);
Tensor cast(const Tensor& x, DType dtype);
/// Casts float16 and bfloat16 to float32, in which sums are computed; leaves others alone.
Tensor widened(const Tensor& x);
Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b);
/// x * value, x + value in the dtype of x.
Tensor scale(const Tensor& x, double value);
Tensor shift(const Tensor& x, double value);

// Reductions. Here axes may be negative and in any order; no axes means no reduction (returns x).
Tensor reduce(Prim which, const Tensor& x, Ints axes, bool keepdims = false);
Tensor reduce_sum(const Tensor& x, Ints axes, bool keepdims = false);
/// sum / count over the axes; for half types both are float32 (65505 is infinite in float16).
Tensor reduce_mean(const Tensor& x, Ints axes, bool keepdims = false);
Tensor reduce_max(const Tensor& x, Ints axes, bool keepdims = false);
Ints all_axes(const Tensor& x);
/// Number of elements along the axes, as a scalar of that dtype (symbolic if one of them is None).
Tensor count(const Tensor& x, const Ints& axes, DType dtype);

// Shape.
Tensor reshape(const Tensor& x, const SymShape& shape);
Tensor reshape(const Tensor& x, const Ints& dims);
Tensor reshape_like(const Tensor& x, const Tensor& like);
Tensor expand_dims(const Tensor& x, Ints axes);  // axes of the result, non-negative, sorted
Tensor squeeze(const Tensor& x, Ints axes);
Tensor broadcast(const Tensor& x, const SymShape& shape);
Tensor broadcast_like(const Tensor& x, const Tensor& like);
/// Sums over what broadcasting repeated: the gradient of broadcasting `like` to the shape of x.
Tensor sum_to_like(const Tensor& x, const Tensor& like);
Tensor transpose(const Tensor& x, Ints perm);
Tensor concat(std::span<const Tensor> xs, int64_t axis);
/// Entries as in Python slicing (negative ones count from the end; kToEnd), one per axis.
Tensor slice(const Tensor& x, Ints starts, Ints stops, Ints steps = {});
/// One axis only.
Tensor slice_axis(const Tensor& x, int64_t axis, int64_t start, int64_t stop, int64_t step = 1);
Tensor pad(const Tensor& x, Ints low, Ints high, double value = 0.0);
Tensor reverse(const Tensor& x, Ints axes);
/// x indexed by integers along an axis: result shape x[:axis] + indices + x[axis+1:].
Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis = 0);
/// Zeros of `shape`, plus `updates` at `indices` along an axis; the inverse of gather.
Tensor scatter_add(const Tensor& indices, const Tensor& updates, const SymShape& shape,
                   int64_t axis = 0);
Tensor iota(int64_t n, DType dtype);
Tensor iota(const SymShape& shape, DType dtype);  // 1-D

// Linear algebra. Result axes: batch, free axes of a, free axes of b.
Tensor dot_general(const Tensor& a, const Tensor& b, Ints batch_a, Ints batch_b, Ints contract_a,
                   Ints contract_b);
Tensor matmul(const Tensor& a, const Tensor& b);  // 2-D

}  // namespace prim
}  // namespace horngate
