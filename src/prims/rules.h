// Rules that many primitives share: dtypes, NumPy broadcasting with None, axes, slices.
#pragma once

#include "prims/build.h"

namespace horngate::rules {

constexpr const char* prim_name(Prim prim) {
  switch (prim) {
#define PRIM(name, how, attributes) \
  case Prim::name: return #name;
#include "ir/prims.def"
  }
  return "?";
}
/// The name at the start of a primitive's errors.
template <class A>
inline constexpr const char* kName = prim_name(A::kPrim);

/// The dtypes that an operand may have.
enum class Kind : uint8_t { any, number, floats, boolean };
void check_kind(const char* name, const char* what, DType dtype, Kind kind);
/// Must be int32 or int64.
void check_index(const char* name, const char* what, DType dtype);
void check_dense(const char* name, const InferCall& c);
/// Must be a sparse matrix.
void check_sparse(const char* name, const char* what, const TensorType& t);
void check_rank(const char* name, const char* what, const Shape& shape, size_t rank);

/// Two dimensions that must agree: the known one, None if neither is known, kConflict if they differ.
inline constexpr int64_t kConflict = -2;
int64_t same_dim(int64_t a, int64_t b);
/// One dimension of NumPy broadcasting; kConflict if the two do not fit.
int64_t broadcast_dim(int64_t a, int64_t b);
Shape broadcast_shapes(const char* name, const Shape& a, const Shape& b);

Types infer_unary(const char* name, const InferCall& c, Kind kind);
Types infer_binary(const char* name, const InferCall& c, Kind kind);
Types infer_comparison(const char* name, const InferCall& c, Kind kind);
Types infer_reduction(const char* name, const InferCall& c, const Ints& axes, bool keepdims,
                      Kind kind);

/// Element-wise, result of the operand's type.
template <class A, Kind kKind>
Types unary(const InferCall& c, const A&) {
  return infer_unary(kName<A>, c, kKind);
}
/// Two operands of one dtype, broadcast.
template <class A, Kind kKind>
Types binary(const InferCall& c, const A&) {
  return infer_binary(kName<A>, c, kKind);
}
/// The same with a bool result.
template <class A, Kind kKind>
Types comparison(const InferCall& c, const A&) {
  return infer_comparison(kName<A>, c, kKind);
}
template <class A, Kind kKind>
Types reduction(const InferCall& c, const A& a) {
  return infer_reduction(kName<A>, c, a.axes, a.keepdims, kKind);
}
/// Result of the operand's type, along one axis (cumsum, log_softmax).
template <class A, Kind kKind>
Types along_axis(const InferCall& c, const A& a) {
  const Types out = infer_unary(kName<A>, c, kKind);
  normalize_axis(kName<A>, a.axis, c.in[0].shape);
  return out;
}
/// int64 positions along an axis, which disappears (argmax, argmin).
template <class A>
Types position(const InferCall& c, const A& a) {
  check_dense(kName<A>, c);
  Shape shape = c.in[0].shape;
  const int64_t axis = normalize_axis(kName<A>, a.axis, shape);
  check(shape.dim(axis) != 0, kName<A>, "axis ", axis, " of x must not be empty; got shape ", shape,
        ".");
  shape.dims().erase(shape.dims().begin() + axis);
  return {TensorType(DType::int64, std::move(shape))};
}

/// A `shape` attribute as users write it: None where an operand supplies the entry.
std::string shape_text(const Ints& dims);
/// The operand that supplies kFromOperand entries is 1-D int64; `operands` does not count it.
void check_shape_operand(const char* name, const InferCall& c, const Ints& dims, size_t operands);
bool from_operand(const Ints& dims);

/// A reduction's result (or its cotangent) with the reduced axes put back as 1.
Tensor with_axes(const Tensor& y, const Ints& axes, bool keepdims);
/// 0 in the dtype of x, for select.
Tensor zero_of(const Tensor& x);
/// The cotangent of a largest or smallest element: dx = dy / n at each of the n elements that equal y, else 0.
template <class A>
Tensors share_among_equals(const GradCall& c, const A& a) {
  const Tensor& x = c.in(0);
  const Tensor at = prim::eq(x, with_axes(c.out(), a.axes, a.keepdims));
  // Halves cannot count: 65,504 is the largest number that float16 has.
  const DType wide = size_of(x.dtype()) < 4 ? DType::float32 : x.dtype();
  const Tensor n = prim::reduce_sum(prim::cast(at, wide), a.axes, true);
  const Tensor dy = prim::cast(with_axes(c.dy[0], a.axes, a.keepdims), wide);
  return {prim::select(at, prim::cast(prim::div(dy, n), x.dtype()), zero_of(x))};
}
/// {sum_to_like(da, a), sum_to_like(db, b)} of a binary node.
Tensors sum_to_operands(const GradCall& c, const Tensor& da, const Tensor& db);

}  // namespace horngate::rules
