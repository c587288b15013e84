// Helpers of the shape functions.
#include "api/shapes.h"

#include <algorithm>

#include "api/args.h"
#include "prims/rules.h"

namespace horngate {

Tensor ranked_operand(std::string_view function, const Tensor& x, size_t rank) {
  const Tensor t = dense_operand(function, x);
  check(t.ndim() == rank, function, "x must have ", rank, " dimensions; got shape ", t.shape(),
        ".");
  return t;
}

int64_t new_axis(std::string_view function, int64_t axis, const Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.ndim()) + 1;
  check(axis >= -rank && axis < rank, function, "axis must be in [", -rank, ", ", rank,
        ") for x of shape ", shape, "; got axis=", axis, ".");
  return axis < 0 ? axis + rank : axis;
}

SymShape one_inferred(SymShape shape) {
  const auto count = [&](int64_t n) { return std::count(shape.dims.begin(), shape.dims.end(), n); };
  // With a 0 in the shape, the element count does not determine -1.
  if (count(kFromOperand) != 1 || count(kInfer) > 0 || count(0) > 0) return shape;
  *std::find(shape.dims.begin(), shape.dims.end(), kFromOperand) = kInfer;
  shape.operand = {};
  return shape;
}

namespace {

Tensor constant_ints(const Ints& values) {
  return prim::constant(Array::of<int64_t>(std::span<const int64_t>(values.data(), values.size()),
                                           {static_cast<int64_t>(values.size())}));
}

}  // namespace

SymShape scaled_shape(const Tensor& x, const SymShape& factors) {
  SymShape result;
  for (size_t i = 0; i < x.ndim(); ++i) {
    const int64_t pair[] = {x.shape().dim(i), factors.dims[i] < 0 ? -1 : factors.dims[i]};
    const int64_t d = checked_product(pair);
    result.dims.push_back(d < 0 ? kFromOperand : d);
  }
  if (!rules::from_operand(result.dims)) return result;
  const bool scaled =
      std::any_of(factors.dims.begin(), factors.dims.end(), [](int64_t f) { return f != 1; });
  result.operand = prim::shape_of(x);
  if (scaled)
    result.operand = prim::mul(
        result.operand, factors.operand.defined() ? factors.operand : constant_ints(factors.dims));
  return result;
}

void SliceBounds::push(int64_t number, Tensor tensor) {
  numbers.push_back(number);
  open.push_back(std::move(tensor));
}

namespace {

Tensor operand_of(const SliceBounds& bounds) {
  Tensors parts;
  for (size_t i = 0; i < bounds.numbers.size(); ++i)
    parts.push_back(bounds.open[i].defined() ? bounds.open[i] : constant_ints({bounds.numbers[i]}));
  return prim::concat(parts, 0);
}

}  // namespace

Tensor slice_between(const Tensor& x, const SliceBounds& starts, const SliceBounds& stops,
                     const Ints& steps, const Ints& single) {
  const bool open_start = rules::from_operand(starts.numbers);
  const bool open_stop = rules::from_operand(stops.numbers);
  if (!open_start && !open_stop && single.empty())
    return prim::slice(x, starts.numbers, stops.numbers, steps);
  SmallVec<Tensor, 2> in{x};
  if (open_start) in.push_back(operand_of(starts));
  if (open_stop) in.push_back(operand_of(stops));
  return emit(attrs::slice{.starts = starts.numbers,
                           .stops = stops.numbers,
                           .steps = steps.empty() ? Ints(x.ndim(), 1) : steps,
                           .single = single},
              std::move(in));
}

Tensor element_at(const Tensor& x, int64_t axis, int64_t i) {
  attrs::slice a{.starts = Ints(x.ndim(), 0),
                 .stops = Ints(x.ndim(), kToEnd),
                 .steps = Ints(x.ndim(), 1),
                 .single = {axis}};
  a.starts[static_cast<size_t>(axis)] = i;
  if (i != -1) a.stops[static_cast<size_t>(axis)] = i + 1;
  return prim::squeeze(emit(std::move(a), {x}), {axis});
}

}  // namespace horngate
