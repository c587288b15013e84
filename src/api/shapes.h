// Helpers of the shape functions: shapes worked out from shapes, and slices with bounds from the
// graph.
#pragma once

#include <string_view>

#include "prims/build.h"

namespace horngate {

/// dense_operand with a check of the number of axes.
Tensor ranked_operand(std::string_view function, const Tensor& x, size_t rank);

/// The place of a new axis in a tensor with one axis more than `shape`, made non-negative.
int64_t new_axis(std::string_view function, int64_t axis, const Shape& shape);

/// A target of reshape, with -1 in place of the operand when that says as much.
SymShape one_inferred(SymShape shape);

/// The shape of x with each dimension times a factor; factors without kInfer.
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

/// Element i along an axis, which goes; negative ones count from the end. One that is not there is an IndexError,
/// when a call knows it at the latest.
Tensor element_at(const Tensor& x, int64_t axis, int64_t i);

}  // namespace horngate
