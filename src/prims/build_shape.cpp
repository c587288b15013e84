// Builders of the shape primitives. Except in shape arithmetic nothing here looks past an operand: tensors between
// two of them may be fed or differentiated with respect to. passes/simplify does it, once it is known which ones are.
#include <algorithm>

#include "prims/build.h"

namespace horngate::prim {
namespace {

SmallVec<Tensor, 2> with_operand(SmallVec<Tensor, 2> in, const SymShape& shape) {
  if (shape.operand.defined()) in.push_back(shape.operand);
  return in;
}

bool same_static(const Tensor& x, const SymShape& shape) {
  return shape.is_static() && x.shape().is_static() && x.shape().dims() == shape.dims;
}

}  // namespace

Tensor reshape(const Tensor& x, const SymShape& shape) {
  if (same_static(x, shape)) return x;
  return emit(attrs::reshape{.shape = shape.dims}, with_operand({x}, shape));
}
Tensor reshape(const Tensor& x, const Ints& dims) { return reshape(x, SymShape{dims, {}}); }

Tensor reshape_like(const Tensor& x, const Tensor& like) {
  SymShape s = sym_shape(like);
  // A single unknown dimension follows from the element count, so no operand is needed.
  int64_t open = 0;
  for (int64_t d : s.dims) open += d == kFromOperand;
  if (open == 1 && std::find(s.dims.begin(), s.dims.end(), 0) == s.dims.end()) {
    for (int64_t& d : s.dims)
      if (d == kFromOperand) d = kInfer;
    s.operand = {};
  }
  return reshape(x, s);
}

Tensor expand_dims(const Tensor& x, Ints axes) {
  if (axes.empty()) return x;
  return emit(attrs::expand_dims{.axes = std::move(axes)}, {x});
}
Tensor squeeze(const Tensor& x, Ints axes) {
  if (axes.empty()) return x;
  return emit(attrs::squeeze{.axes = std::move(axes)}, {x});
}

Tensor broadcast(const Tensor& x, const SymShape& shape) {
  if (same_static(x, shape)) return x;
  return emit(attrs::broadcast{.shape = shape.dims}, with_operand({x}, shape));
}
Tensor broadcast_like(const Tensor& x, const Tensor& like) { return broadcast(x, sym_shape(like)); }

Tensor sum_to_like(const Tensor& x, const Tensor& like) {
  if (x.shape() == like.shape() && x.shape().is_static()) return x;
  if (x.shape().is_static() && like.shape().is_static()) {
    const size_t lead = x.ndim() - like.ndim();
    Ints axes, squeezed;
    for (size_t i = 0; i < x.ndim(); ++i) {
      if (i < lead) squeezed.push_back(static_cast<int64_t>(i));
      if (i < lead || like.shape().dim(i - lead) != x.shape().dim(i))
        axes.push_back(static_cast<int64_t>(i));
    }
    if (axes.size() == squeezed.size()) return reduce_sum(x, axes);
    return squeeze(reduce_sum(x, axes, true), squeezed);
  }
  const SymShape s = sym_shape(like);
  return emit(attrs::sum_to{.shape = s.dims}, with_operand({x}, s));
}

Tensor transpose(const Tensor& x, Ints perm) {
  bool identity = true;
  for (size_t i = 0; i < perm.size(); ++i) identity &= perm[i] == static_cast<int64_t>(i);
  return identity ? x : emit(attrs::transpose{.perm = std::move(perm)}, {x});
}

Tensor concat(std::span<const Tensor> xs, int64_t axis) {
  if (xs.size() == 1) return xs[0];
  return emit(attrs::concat{.axis = axis}, SmallVec<Tensor, 2>(xs.begin(), xs.end()));
}

Tensor slice(const Tensor& x, Ints starts, Ints stops, Ints steps) {
  if (steps.empty()) steps = Ints(starts.size(), 1);
  bool whole = true;
  for (size_t i = 0; i < starts.size(); ++i)
    whole &= starts[i] == 0 && steps[i] == 1 &&
             (stops[i] == kToEnd || (x.shape().dim(i) >= 0 && stops[i] >= x.shape().dim(i)));
  if (whole) return x;
  const Tensor y = emit(attrs::slice{.starts = starts, .stops = stops, .steps = steps}, {x});
  // Shape arithmetic folds as it is built, so that int_shape stays known.
  Ints ints;
  if (!is_float(x.dtype()) && x.ndim() == 1 && y.shape().is_static() && known_ints(y, &ints) &&
      std::find(ints.begin(), ints.end(), kFromOperand) == ints.end())
    return constant(Array::of<int64_t>(std::span<const int64_t>(ints.data(), ints.size()),
                                       {static_cast<int64_t>(ints.size())})
                        .cast(x.dtype()));
  return y;
}

Tensor slice_axis(const Tensor& x, int64_t axis, int64_t start, int64_t stop, int64_t step) {
  Ints starts(x.ndim(), 0), stops(x.ndim(), kToEnd), steps(x.ndim(), 1);
  starts[static_cast<size_t>(axis)] = start;
  stops[static_cast<size_t>(axis)] = stop;
  steps[static_cast<size_t>(axis)] = step;
  return slice(x, starts, stops, steps);
}

Tensor pad(const Tensor& x, Ints low, Ints high, double value) {
  bool any = false;
  for (size_t i = 0; i < low.size(); ++i) any |= low[i] != 0 || high[i] != 0;
  if (!any) return x;
  return emit(attrs::pad{.low = std::move(low), .high = std::move(high), .value = value}, {x});
}

Tensor reverse(const Tensor& x, Ints axes) {
  if (axes.empty()) return x;
  return emit(attrs::reverse{.axes = std::move(axes)}, {x});
}

Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis) {
  return emit(attrs::gather{.axis = axis}, {x, indices});
}

Tensor scatter_add(const Tensor& indices, const Tensor& updates, const SymShape& shape,
                   int64_t axis) {
  return emit(attrs::scatter_add{.axis = axis, .shape = shape.dims},
              with_operand({indices, updates}, shape));
}

Tensor iota(const SymShape& shape, DType dtype) {
  return emit(attrs::iota{.dtype = dtype, .shape = shape.dims}, with_operand({}, shape));
}
Tensor iota(int64_t n, DType dtype) { return iota(SymShape{{n}, {}}, dtype); }

}  // namespace horngate::prim
