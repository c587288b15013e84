// Single dimensions of shapes, for functions that assemble shapes from several sources.
#pragma once

#include <span>

#include "prims/build.h"

namespace horngate {

/// A dimension: a number, or an entry that the graph computes when it runs.
struct SymDim {
  int64_t known = Shape::kUnknown;
  Tensor tensor;  // (1,) int64; empty when the number is known

  SymDim(int64_t n) : known(n) {}
  SymDim(int64_t n, Tensor t) : known(n), tensor(std::move(t)) {}
  bool is_known() const { return known >= 0; }
  Tensor as_tensor() const {
    return is_known() ? prim::constant(Array::of<int64_t>({known})) : tensor;
  }
};
using SymDims = std::vector<SymDim>;

inline SymDim dim_of(const Tensor& x, size_t axis) {
  const int64_t n = x.shape().dim(axis), at = static_cast<int64_t>(axis);
  if (n >= 0) return n;
  return {Shape::kUnknown, prim::slice_axis(prim::shape_of(x), 0, at, at + 1)};
}

/// An entry of a symbolic shape that is not kInfer.
inline SymDim dim_of(const SymShape& shape, size_t axis) {
  const int64_t n = shape.dims[axis], at = static_cast<int64_t>(axis);
  if (n >= 0) return n;
  return {Shape::kUnknown, prim::slice_axis(shape.operand, 0, at, at + 1)};
}

inline SymDims dims_of(const Tensor& x) {
  SymDims dims;
  for (size_t i = 0; i < x.ndim(); ++i) dims.push_back(dim_of(x, i));
  return dims;
}

/// All of them as one 1-D tensor.
inline Tensor tensor_of(const SymDims& dims) {
  Tensors parts;
  for (const SymDim& d : dims) parts.push_back(d.as_tensor());
  return prim::concat(parts, 0);
}

inline SymShape shape_of_dims(const SymDims& dims) {
  SymShape shape;
  bool known = true;
  for (const SymDim& d : dims) {
    shape.dims.push_back(d.is_known() ? d.known : kFromOperand);
    known &= d.is_known();
  }
  if (!known) shape.operand = tensor_of(dims);
  return shape;
}

/// x with `size` elements along an axis. Where one of the two is open, a call checks that.
inline Tensor with_size(const Tensor& x, size_t axis, const SymDim& size) {
  if (size.is_known() && x.shape().dim(axis) == size.known) return x;
  SymDims dims = dims_of(x);
  dims[axis] = size;
  return prim::reshape(x, shape_of_dims(dims));
}

}  // namespace horngate
