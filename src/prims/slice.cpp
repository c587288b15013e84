// slice: x[start:stop:step] on every axis, by Python's rules.
// On the axes in `single` it takes the one element at start, which must exist; planning checks that and empties
// the list.
// Operands: x, then starts if an entry of starts is kFromOperand, then likewise stops; each 1-D int64 with one
// entry per axis.
#include <algorithm>

#include "ir/fold_ints.h"
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::slice;

int64_t step_of(const A& a, size_t axis) { return a.steps.empty() ? 1 : a.steps[axis]; }

/// Number of elements along an axis; None when it depends on an unknown start, stop or n.
int64_t slice_dim(int64_t n, int64_t start, int64_t stop, int64_t step) {
  if (n == 0) return 0;
  const bool open = start == kFromOperand || stop == kFromOperand;
  if (n > 0 && !open) return slice_range(n, start, stop, step).count;
  // Bounds counted from the same end can be compared without n; any others might be clipped by it.
  const bool comparable = !open && stop != kToEnd && (start < 0) == (stop < 0);
  if (comparable && (step > 0 ? start >= stop : start <= stop)) return 0;
  return Shape::kUnknown;
}

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("slice", c);
  const Shape& x = c.in[0].shape;
  const size_t rank = x.ndim();
  check(a.starts.size() == rank && a.stops.size() == rank &&
            (a.steps.empty() || a.steps.size() == rank),
        "slice", "starts, stops and steps must have one entry per axis of x; got ",
        rules::shape_text(a.starts), " and ", rules::shape_text(a.stops), " for shape ", x, ".");
  size_t operands = 1;
  for (const Ints* bounds : {&a.starts, &a.stops}) {
    if (!rules::from_operand(*bounds)) continue;
    rules::check_shape_operand(
        "slice", InferCall{c.in.first(std::min(operands + 1, c.in.size())), {}}, *bounds, operands);
    ++operands;
  }
  Ints dims;
  for (size_t i = 0; i < rank; ++i) {
    check(step_of(a, i) != 0, "slice", "steps must not be 0; got 0 on axis ", i, ".");
    dims.push_back(slice_dim(x.dim(i), a.starts[i], a.stops[i], step_of(a, i)));
  }
  for (int64_t axis : a.single) {
    const int64_t n = x.dim(static_cast<size_t>(axis)), i = a.starts[static_cast<size_t>(axis)];
    check<IndexError>(n < 0 || (i >= -n && i < n), "slice", "an index on axis ", axis,
                      " of x of shape ", x, " must be in [", -n, ", ", n, "); got ", i, ".");
    dims[static_cast<size_t>(axis)] = 1;
  }
  return {TensorType(c.in[0].dtype, Shape(std::move(dims)))};
}

bool is_whole(const A& a, const Tensor& x, size_t i) {
  const int64_t n = x.shape().dim(i);
  return a.starts[i] == 0 && step_of(a, i) == 1 &&
         (a.stops[i] == kToEnd || (n >= 0 && a.stops[i] >= n));
}

/// Where the slice begins, like slice_range, when n or the start is only known at run time.
Tensor first_index(const GradCall& c, const A& a, size_t i) {
  const Tensor& x = c.in(0);
  const int64_t n = x.shape().dim(i), start = a.starts[i], step = step_of(a, i);
  if (start == 0 && step > 0) return prim::constant(Array(int64_t{0}));
  if (n >= 0 && start != kFromOperand)
    return prim::constant(Array(slice_range(n, start, kToEnd, step).start));
  const auto axis = static_cast<int64_t>(i);
  const Tensor size = prim::count(x, {axis}, DType::int64);
  const Tensor low = prim::constant(Array(int64_t{step > 0 ? 0 : -1}));
  const Tensor high = step > 0 ? size : prim::shift(size, -1);
  const auto from_end = [&](const Tensor& s) { return prim::maximum(prim::add(s, size), low); };
  if (start != kFromOperand) {
    const Tensor s = prim::constant(Array(start));
    return start < 0 ? from_end(s) : prim::minimum(s, high);
  }
  const Tensor s = prim::squeeze(prim::slice_axis(c.in(1), 0, axis, axis + 1), {0});
  const Tensor negative = prim::lt(s, prim::constant(Array(int64_t{0})));
  return prim::select(negative, from_end(s), prim::minimum(s, high));
}

/// The shape of g with one dimension from x.
SymShape shape_with(const Tensor& g, const Tensor& x, int64_t axis) {
  SymShape shape = prim::sym_shape(g);
  const int64_t n = x.shape().dim(axis);
  shape.dims[axis] = n < 0 ? kFromOperand : n;
  shape.operand = {};
  if (!rules::from_operand(shape.dims)) return shape;
  const auto rank = static_cast<int64_t>(g.ndim());
  const Tensor of_g = prim::shape_of(g);
  Tensors parts;
  if (axis > 0) parts.push_back(prim::slice_axis(of_g, 0, 0, axis));
  parts.push_back(prim::slice_axis(prim::shape_of(x), 0, axis, axis + 1));
  if (axis + 1 < rank) parts.push_back(prim::slice_axis(of_g, 0, axis + 1, rank));
  shape.operand = prim::concat(parts, 0);
  return shape;
}

/// Undoes the slice along one axis: g at first, first + step, ... of zeros.
Tensor spread(const GradCall& c, const A& a, const Tensor& g, size_t i) {
  const auto axis = static_cast<int64_t>(i);
  const int64_t count = g.shape().dim(i);
  SymShape length{{count}, {}};
  if (count < 0) length = {{kFromOperand}, prim::slice_axis(prim::shape_of(g), 0, axis, axis + 1)};
  const Tensor step = prim::constant(Array(step_of(a, i)));
  const Tensor steps = prim::mul(prim::iota(length, DType::int64), step);
  const Tensor indices = prim::add(steps, first_index(c, a, i));
  return prim::scatter_add(indices, g, shape_with(g, c.in(0), axis), axis);
}

// dx = zeros with dy at the elements that were taken: by padding if all is known and the step is 1, else by
// scattering along the axis
Tensors grad(const GradCall& c, const A& a) {
  const Tensor& x = c.in(0);
  const size_t rank = x.ndim();
  Ints low(rank, 0), high(rank, 0), scattered;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t n = x.shape().dim(i);
    if (is_whole(a, x, i)) continue;
    if (n < 0 || step_of(a, i) != 1 || a.starts[i] == kFromOperand || a.stops[i] == kFromOperand) {
      scattered.push_back(static_cast<int64_t>(i));
      continue;
    }
    const SliceRange r = slice_range(n, a.starts[i], a.stops[i], 1);
    low[i] = r.start;
    high[i] = n - r.start - r.count;
  }
  Tensor dx = prim::pad(c.dy[0], low, high);
  for (int64_t axis : scattered) dx = spread(c, a, dx, static_cast<size_t>(axis));
  Tensors result(c.node.in.size());
  result[0] = dx;
  return result;
}

}  // namespace
HORNGATE_PRIMITIVE(slice, {.infer = infer, .grad = grad})
}  // namespace horngate
