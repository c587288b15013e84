// Rules that many primitives share.
#include "prims/rules.h"

#include <algorithm>

namespace horngate::rules {

void check_kind(const char* name, const char* what, DType dtype, Kind kind) {
  switch (kind) {
    case Kind::any: return;
    case Kind::number:
      check<TypeError>(dtype != DType::bool_, name, what, " must have a numeric dtype; got bool.");
      return;
    case Kind::floats:
      check<TypeError>(is_float(dtype), name, what, " must have a float dtype; got ", dtype, ".");
      return;
    case Kind::boolean:
      check<TypeError>(dtype == DType::bool_, name, what, " must be bool; got ", dtype, ".");
      return;
  }
}

void check_index(const char* name, const char* what, DType dtype) {
  check<TypeError>(dtype == DType::int32 || dtype == DType::int64, name, what,
                   " must be int32 or int64; got ", dtype, ".");
}

void check_dense(const char* name, const InferCall& c) {
  for (const TensorType& t : c.in)
    check<TypeError>(!t.sparse, name, "operands must be dense; got a sparse tensor of shape ",
                     t.shape, ". Convert it with to_dense.");
}

void check_sparse(const char* name, const char* what, const TensorType& t) {
  check<TypeError>(t.sparse, name, what, " must be sparse; got a dense tensor of shape ", t.shape,
                   ".");
  check_rank(name, what, t.shape, 2);
}

void check_rank(const char* name, const char* what, const Shape& shape, size_t rank) {
  check(shape.ndim() == rank, name, what, " must have ", rank,
        rank == 1 ? " dimension" : " dimensions", "; got shape ", shape, ".");
}

int64_t same_dim(int64_t a, int64_t b) {
  if (a == b || b == Shape::kUnknown) return a;
  return a == Shape::kUnknown ? b : kConflict;
}

int64_t broadcast_dim(int64_t a, int64_t b) {
  if (a == 1) return b;
  if (b == 1) return a;
  return same_dim(a, b);
}

Shape broadcast_shapes(const char* name, const Shape& a, const Shape& b) {
  const Shape& longer = a.ndim() >= b.ndim() ? a : b;
  const Shape& shorter = a.ndim() >= b.ndim() ? b : a;
  Ints dims = longer.dims();
  const size_t lead = longer.ndim() - shorter.ndim();
  for (size_t i = 0; i < shorter.ndim(); ++i) {
    int64_t& d = dims[lead + i];
    d = broadcast_dim(d, shorter.dim(i));
    check(d != kConflict, name, "shapes ", a, " and ", b, " do not broadcast together.");
  }
  return Shape(std::move(dims));
}

Types infer_unary(const char* name, const InferCall& c, Kind kind) {
  check_dense(name, c);
  check_kind(name, "x", c.in[0].dtype, kind);
  return {c.in[0]};
}

Types infer_binary(const char* name, const InferCall& c, Kind kind) {
  check_dense(name, c);
  const TensorType &a = c.in[0], &b = c.in[1];
  check<TypeError>(a.dtype == b.dtype, name, "operands must have the same dtype; got ", a.dtype,
                   " and ", b.dtype, ".");
  check_kind(name, "operands", a.dtype, kind);
  return {TensorType(a.dtype, broadcast_shapes(name, a.shape, b.shape))};
}

Types infer_comparison(const char* name, const InferCall& c, Kind kind) {
  Types out = infer_binary(name, c, kind);
  out[0].dtype = DType::bool_;
  return out;
}

Types infer_reduction(const char* name, const InferCall& c, const Ints& axes, bool keepdims,
                      Kind kind) {
  check_dense(name, c);
  check_kind(name, "x", c.in[0].dtype, kind);
  Shape shape = c.in[0].shape;
  const int64_t rank = static_cast<int64_t>(shape.ndim());
  int64_t previous = -1;
  for (int64_t axis : axes) {
    check(axis > previous && axis < rank, name, "axes must be in [0, ", rank,
          "), sorted and without repeats; got ", axes, ".");
    previous = axis;
  }
  for (size_t i = axes.size(); i-- > 0;) {
    if (keepdims)
      shape.dims()[axes[i]] = 1;
    else
      shape.dims().erase(shape.dims().begin() + axes[i]);
  }
  return {TensorType(c.in[0].dtype, std::move(shape))};
}

std::string shape_text(const Ints& dims) {
  std::string out = "(";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) out += ", ";
    out += dims[i] == kFromOperand ? "None" : std::to_string(dims[i]);
  }
  out += dims.size() == 1 ? ",)" : ")";
  return out;
}

bool from_operand(const Ints& dims) {
  return std::find(dims.begin(), dims.end(), kFromOperand) != dims.end();
}

void check_shape_operand(const char* name, const InferCall& c, const Ints& dims, size_t operands) {
  if (!from_operand(dims)) return;
  invariant(c.in.size() == operands + 1, name,
            " has an open shape and no operand that supplies it.");
  const TensorType& t = c.in[operands];
  const int64_t rank = static_cast<int64_t>(dims.size());
  check<TypeError>(t.dtype == DType::int64, name, "shape must be int64; got ", t.dtype, ".");
  check(t.shape.ndim() == 1 && same_dim(t.shape.dim(0), rank) != kConflict, name,
        "shape must be 1-D with ", rank, " entries; got shape ", t.shape, ".");
}

Tensor with_axes(const Tensor& y, const Ints& axes, bool keepdims) {
  return keepdims || axes.empty() ? y : prim::expand_dims(y, axes);
}

Tensors sum_to_operands(const GradCall& c, const Tensor& da, const Tensor& db) {
  return {prim::sum_to_like(da, c.in(0)), prim::sum_to_like(db, c.in(1))};
}

Tensor zero_of(const Tensor& x) { return prim::scalar(0.0, x.dtype()); }

}  // namespace horngate::rules
