// Joining, reshaping, padding and slicing.
#include "horngate/ops/shape.h"

#include <algorithm>
#include <cmath>

#include "api/args.h"
#include "api/dims.h"
#include "api/shapes.h"
#include "api/sparse.h"
#include "horngate/config.h"
#include "ir/checked.h"
#include "prims/rules.h"

namespace horngate {
namespace {

void check_joinable(std::string_view function, const Tensors& xs, int64_t except) {
  const Shape& first = xs[0].shape();
  for (size_t k = 1; k < xs.size(); ++k) {
    const Shape& other = xs[k].shape();
    check(other.ndim() == first.ndim(), function,
          "tensors must have the same number of dimensions; got shapes ", first, " and ", other,
          ".");
    for (size_t i = 0; i < first.ndim(); ++i) {
      if (static_cast<int64_t>(i) == except) continue;
      const bool ok = rules::same_dim(first.dim(i), other.dim(i)) != rules::kConflict;
      check(ok || except < 0, function, "shapes must agree except on axis=", except, "; got ",
            first, " and ", other, ", which differ on axis ", i, ".");
      check(ok, function, "shapes must agree; got ", first, " and ", other,
            ", which differ on axis ", i, ".");
    }
  }
}

Tensors dense_operands(std::string_view function, const Tensors& tensors,
                       std::string_view argument) {
  Tensors xs;
  for (const Tensor& t : tensors) xs.push_back(dense_operand(function, t, argument));
  unify(function, &xs);
  return xs;
}

}  // namespace

Tensor concatenate(const std::vector<Tensor>& tensors, int64_t axis) {
  const CalledAs called(__func__);
  check(!tensors.empty(), "concatenate", "tensors must hold at least one tensor.");
  bool all_sparse = true;
  Tensors xs;
  for (const Tensor& t : tensors) all_sparse &= t.is_sparse();
  for (const Tensor& t : tensors) {
    const bool make_dense = t.is_sparse() && !all_sparse;
    xs.push_back(make_dense ? emit(attrs::to_dense{}, {t}) : t);
  }
  if (!all_sparse) xs = dense_operands("concatenate", xs, "tensors");
  check(xs[0].ndim() > 0, "concatenate", "tensors must have at least 1 dimension; got a scalar.");
  axis = normalize_axis("concatenate", axis, xs[0].shape(), "axis", "a tensor");
  check_joinable("concatenate", xs, axis);
  return own(called, all_sparse ? concatenate_sparse(xs, axis) : prim::concat(xs, axis));
}

Tensor stack(const std::vector<Tensor>& x, int64_t axis) {
  const CalledAs called(__func__);
  check(!x.empty(), "stack", "x must hold at least one tensor.");
  Tensors xs = dense_operands("stack", x, "x");
  check_joinable("stack", xs, -1);
  axis = new_axis("stack", axis, xs[0].shape());
  for (Tensor& t : xs) t = prim::expand_dims(t, {axis});
  return own(called, prim::concat(xs, axis));
}

Tensor reshape(const Tensor& x, const ShapeArg& shape) {
  const CalledAs called(__func__);
  const Tensor t = dense_operand("reshape", x);
  return own(called, prim::reshape(t, sym_shape_of("reshape", shape)));
}

Tensor permute_dimensions(const Tensor& x, const Ints& pattern) {
  const CalledAs called(__func__);
  const Tensor t = dense_operand("permute_dimensions", x);
  const auto rank = static_cast<int64_t>(t.ndim());
  Ints perm, seen(t.ndim(), 0);
  bool ok = pattern.size() == t.ndim();
  for (size_t i = 0; ok && i < pattern.size(); ++i) {
    const int64_t axis = pattern[i] < 0 ? pattern[i] + rank : pattern[i];
    ok = axis >= 0 && axis < rank && seen[static_cast<size_t>(axis)]++ == 0;
    perm.push_back(axis);
  }
  check(ok, "permute_dimensions", "pattern must name each of the ", rank, " axes of x (shape ",
        t.shape(), ") once; got ", pattern, ".");
  return own(called, prim::transpose(t, perm));
}

Tensor flatten(const Tensor& x) {
  const CalledAs called(__func__);
  return own(called, prim::reshape(dense_operand("flatten", x), Ints{kInfer}));
}

Tensor batch_flatten(const Tensor& x) {
  const CalledAs called(__func__);
  const Tensor t = dense_operand("batch_flatten", x);
  check(t.ndim() > 0, "batch_flatten", "x must have at least 1 dimension; got a scalar.");
  const Ints& dims = t.shape().dims();
  const int64_t rest = checked_product({dims.data() + 1, dims.size() - 1});
  SymShape shape{{dims[0] < 0 ? kFromOperand : dims[0], rest < 0 ? kFromOperand : rest}, {}};
  if (rules::from_operand(shape.dims)) {
    const Tensor all = prim::shape_of(t);
    const auto rank = static_cast<int64_t>(t.ndim());
    const Tensor tail = prim::slice_axis(all, 0, 1, rank);
    const Tensor product = prim::reduce(Prim::reduce_prod, tail, {0}, true);
    shape.operand = prim::concat(Tensors{prim::slice_axis(all, 0, 0, 1), product}, 0);
  }
  return own(called, prim::reshape(t, one_inferred(shape)));
}

Tensor expand_dims(const Tensor& x, int64_t axis) {
  const CalledAs called(__func__);
  const Tensor t = dense_operand("expand_dims", x);
  return own(called, prim::expand_dims(t, {new_axis("expand_dims", axis, t.shape())}));
}

Tensor squeeze(const Tensor& x, int64_t axis) {
  const CalledAs called(__func__);
  const Tensor t = dense_operand("squeeze", x);
  axis = normalize_axis("squeeze", axis, t.shape());
  const int64_t d = t.shape().dim(static_cast<size_t>(axis));
  check(d == 1 || d == Shape::kUnknown, "squeeze", "axis ", axis,
        " of x must have size 1; got shape ", t.shape(), ".");
  return own(called, prim::squeeze(t, {axis}));
}

namespace {

/// Zeros around axes first, first + 1, ...
Tensor pad_axes(std::string_view function, const Tensor& x, size_t rank, size_t first,
                std::span<const PaddingPair> padding) {
  const Tensor t = ranked_operand(function, x, rank);
  Ints low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < padding.size(); ++i) {
    low[first + i] = padding[i][0];
    high[first + i] = padding[i][1];
    check(padding[i][0] >= 0 && padding[i][1] >= 0, function,
          "padding must have entries of at least 0; got ", Ints{padding[i][0], padding[i][1]}, ".");
    check(padding[i][0] <= kMostBytes && padding[i][1] <= kMostBytes, function,
          "padding must have entries of at most ", kMostBytes, "; got ",
          Ints{padding[i][0], padding[i][1]}, ".");
  }
  return prim::pad(t, low, high);
}

size_t first_spatial_axis(const std::optional<DataFormat>& data_format) {
  return data_format.value_or(image_data_format()) == DataFormat::channels_first ? 2 : 1;
}

}  // namespace

Tensor temporal_padding(const Tensor& x, const PaddingPair& padding) {
  const CalledAs called(__func__);
  return own(called, pad_axes("temporal_padding", x, 3, 1, {&padding, 1}));
}
Tensor spatial_2d_padding(const Tensor& x, const Spatial2dPaddingOptions& options) {
  const CalledAs called(__func__);
  return own(called, pad_axes("spatial_2d_padding", x, 4, first_spatial_axis(options.data_format),
                              options.padding));
}
Tensor spatial_3d_padding(const Tensor& x, const Spatial3dPaddingOptions& options) {
  const CalledAs called(__func__);
  return own(called, pad_axes("spatial_3d_padding", x, 5, first_spatial_axis(options.data_format),
                              options.padding));
}

Tensor one_hot(const Tensor& indices, const Number& num_classes) {
  const CalledAs called(__func__);
  const Tensor t = index_operand("one_hot", indices);
  // Class numbers that the indices' dtype cannot hold would wrap around, so the indices are cast instead.
  const auto hot = [&](const Tensor& classes) {
    const Tensor index =
        prim::expand_dims(prim::cast(t, classes.dtype()), {static_cast<int64_t>(t.ndim())});
    return prim::cast(prim::eq(index, classes), DType::float32);
  };
  if (num_classes.is_number()) {
    const double n = num_classes.value();
    check(n >= 0, "one_hot", "num_classes must be at least 0; got ", n, ".");
    check(n < 0x1p62, "one_hot", "num_classes is too large; got ", n, ".");
    check(n == std::trunc(n), "one_hot", "num_classes must be a whole number; got ", n, ".");
    return hot(prim::iota(static_cast<int64_t>(n), holds(t.dtype(), n) ? t.dtype() : DType::int64));
  }
  const Tensor n = parameter_of("one_hot", num_classes, DType::int64, "num_classes");
  if (n.node()->prim == Prim::constant) {
    const auto known = n.node()->as<attrs::constant>().value.item<int64_t>();
    check(known >= 0, "one_hot", "num_classes must be at least 0; got ", known, ".");
  }
  return hot(arange(n, {.dtype = DType::int64}));
}

Tensor reverse(const Tensor& x, const Axis& axes) {
  const CalledAs called(__func__);
  const Tensor t = dense_operand("reverse", x);
  return own(called, prim::reverse(t, axes_of("reverse", axes, t)));
}

namespace {

/// Entry i of a symbolic shape as 1-D int64 with one element.
Tensor entry_of(const SymShape& shape, size_t i) {
  const auto at = static_cast<int64_t>(i);
  if (shape.dims[i] != kFromOperand) return prim::constant(Array::of<int64_t>({shape.dims[i]}));
  return prim::slice_axis(shape.operand, 0, at, at + 1);
}

/// Where a part of an axis begins and how many elements it has, as 1-D int64 with one element.
struct Part {
  Tensor start, size;
};

/// The part of an axis whose n elements only a call knows; a size of -1 takes the rest. A part that does not lie within
/// the axis gets the size -2, so that a reshape to it is an error even beside an axis of 0.
Part part_of(const Tensor& n, const Tensor& start, const Tensor& size) {
  const auto number = [](int64_t v) { return prim::constant(Array::of<int64_t>({v})); };
  const Tensor rest = prim::sub(n, start);
  const Tensor taken = prim::select(prim::eq(size, number(-1)), rest, size);
  const Tensor is_there =
      prim::logical_and(prim::logical_and(prim::ge(start, number(0)), prim::ge(taken, number(0))),
                        prim::le(taken, rest));
  return {start, prim::select(is_there, taken, number(-2))};
}

/// A slice has size[i] elements even where x has None, or open[i] if that is a tensor: reshapes record and check it.
Tensor with_sizes(const Tensor& x, const Ints& size, const Tensors& open) {
  Tensor y = x;
  if (std::any_of(open.begin(), open.end(), [](const Tensor& t) { return t.defined(); })) {
    SymDims dims = dims_of(y);
    for (size_t i = 0; i < dims.size(); ++i)
      if (open[i].defined()) dims[i] = {Shape::kUnknown, open[i]};
    y = prim::reshape(y, shape_of_dims(dims));
  }
  SymShape shape = prim::sym_shape(y);
  bool is_learned = false;
  for (size_t i = 0; i < y.ndim(); ++i) {
    if (shape.dims[i] != kFromOperand || size[i] < 0) continue;
    shape.dims[i] = size[i];
    is_learned = true;
  }
  if (!is_learned) return y;
  if (!rules::from_operand(shape.dims)) shape.operand = {};
  return prim::reshape(y, one_inferred(shape));
}

}  // namespace

Tensor slice(const Tensor& x, const ShapeArg& start, const ShapeArg& size) {
  const CalledAs called(__func__);
  const Tensor t = dense_operand("slice", x);
  const SymShape from = full_shape_of("slice", start, "start");
  const SymShape count = sym_shape_of("slice", size, "size");
  const Shape& shape = t.shape();
  check(from.dims.size() == t.ndim() && count.dims.size() == t.ndim(), "slice",
        "start and size must have one entry per axis of x; got ", from.dims.size(), " and ",
        count.dims.size(), " for shape ", shape, ".");
  // If another axis is 0, the number of elements does not reveal one that is too short.
  bool may_be_empty = false;
  for (size_t i = 0; i < t.ndim(); ++i) {
    const int64_t n = shape.dim(i), first = from.dims[i], taken = count.dims[i];
    const bool has_rest = taken == kInfer && first != kFromOperand && first < n;
    may_be_empty |= taken <= 0 && !has_rest;
  }
  SliceBounds starts, stops;
  Tensors open(t.ndim());
  for (size_t i = 0; i < t.ndim(); ++i) {
    const int64_t n = shape.dim(i), first = from.dims[i], taken = count.dims[i];
    const bool may_not_fit = n < 0 && (taken == kInfer ? first > 0 : taken > 0 && may_be_empty);
    if (first == kFromOperand || taken == kFromOperand || may_not_fit) {
      const Part part =
          part_of(entry_of(prim::sym_shape(t), i), entry_of(from, i), entry_of(count, i));
      starts.push(kFromOperand, part.start);
      stops.push(kFromOperand, prim::add(part.start, part.size));
      if (taken < 0 || may_be_empty) open[i] = part.size;
      continue;
    }
    starts.push(first);
    check(n < 0 || first <= n, "slice", "start must be at most ", n, " on axis ", i,
          " of x of shape ", shape, "; got ", first, ".");
    if (taken == kInfer) {
      stops.push(kToEnd);
    } else {
      check(n < 0 || taken <= n - first, "slice", "start + size must be at most ", n, " on axis ",
            i, " of x of shape ", shape, "; got ", first, " + ", taken, ".");
      stops.push(checked_add("slice", first, taken));
    }
  }
  return own(called, with_sizes(slice_between(t, starts, stops), count.dims, open));
}

}  // namespace horngate
