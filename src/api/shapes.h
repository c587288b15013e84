// Helpers of the shape functions: computed shapes, and slices with bounds from the graph.
#pragma once

#include <string_view>

#include "prims/build.h"

namespace horngate {

/// dense_operand that also checks the number of axes.
Tensor ranked_operand(std::string_view function, const Tensor& x, size_t rank);

/// The position of a new axis in a tensor with one axis more than `shape`, made non-negative.
int64_t new_axis(std::string_view function, int64_t axis, const Shape& shape);

/// A target of reshape, with -1 in place of the operand if that says the same.
SymShape one_inferred(SymShape shape);

/// The shape of x with each dimension multiplied by a factor; the factors have no kInfer.
SymShape scaled_shape(const Tensor& x, const SymShape& factors);

/// One bound of a slice per axis: a number as prim::slice takes it or, where that is kFromOperand,
/// a 1-D int64 tensor with one element.
struct SliceBounds {
  Ints numbers;
  Tensors open;
  void push(int64_t number, Tensor tensor = {});
};
Tensor slice_between(const Tensor& x, const SliceBounds& starts, const SliceBounds& stops,
                     const Ints& steps = {}, const Ints& single = {});

/// Element i along an axis, which disappears; negative i counts from the end. IndexError if it does not exist, at
/// the latest in a call.
Tensor element_at(const Tensor& x, int64_t axis, int64_t i);

}  // namespace horngate
