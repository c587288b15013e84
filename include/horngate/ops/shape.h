// Changing shapes: joining, repeating, padding, resizing, indexing.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "horngate/args.h"
#include "horngate/ops/elementwise.h"
#include "horngate/options.h"

namespace horngate {

/// Joins tensors along an axis. Matrices may be sparse; the result is sparse if all are.
/// Example: y = K::concatenate({a, b}, 1);
[[nodiscard]] HORNGATE_API Tensor concatenate(const std::vector<Tensor>& tensors,
                                              int64_t axis = -1);

/// The tensors side by side along a new axis.
/// Example: y = K::stack({a, b});
[[nodiscard]] HORNGATE_API Tensor stack(const std::vector<Tensor>& x, int64_t axis = 0);

/// The same elements in the same order under another shape.
/// @param shape  one entry may be -1 or None: whatever is left
/// Example: y = K::reshape(x, {-1, 28, 28, 1});
[[nodiscard]] HORNGATE_API Tensor reshape(const Tensor& x, const ShapeArg& shape);

/// x with its axes in another order: axis i of the result is axis pattern[i] of x.
/// Example: y = K::permute_dimensions(x, {0, 2, 1});
[[nodiscard]] HORNGATE_API Tensor permute_dimensions(const Tensor& x, const Ints& pattern);

/// All elements on one axis.
/// Example: y = K::flatten(x);
[[nodiscard]] HORNGATE_API Tensor flatten(const Tensor& x);

/// Keeps axis 0 and merges all others into one.
/// Example: y = K::batch_flatten(images);
[[nodiscard]] HORNGATE_API Tensor batch_flatten(const Tensor& x);

/// x with a new axis of size 1 at that place of the result.
/// Example: y = K::expand_dims(x, 1);
[[nodiscard]] HORNGATE_API Tensor expand_dims(const Tensor& x, int64_t axis = -1);

/// x without an axis of size 1.
/// Example: y = K::squeeze(x, 1);
[[nodiscard]] HORNGATE_API Tensor squeeze(const Tensor& x, int64_t axis);

/// Repeats each element along an axis `rep` times in a row.
/// Example: y = K::repeat_elements(x, 3, 1);
[[nodiscard]] HORNGATE_API Tensor repeat_elements(const Tensor& x, int64_t rep, int64_t axis);

/// Repeats each row of a matrix n times: (samples, dim) becomes (samples, n, dim).
/// Example: y = K::repeat(x, 10);
[[nodiscard]] HORNGATE_API Tensor repeat(const Tensor& x, int64_t n);

/// Repeats all of x n[i] times along axis i.
/// @param n  one entry per axis, numbers or tensors; a shorter list applies to the last axes
/// Example: y = K::tile(x, {1, 3});
[[nodiscard]] HORNGATE_API Tensor tile(const Tensor& x, const ShapeArg& n);

struct ArangeOptions {
  Number stop = None;  // not included; unset: start is the stop, and 0 the start
  Number step = 1;
  Choice<DType> dtype = DType::int32;
};

/// start, start + step, ... before stop, as a 1-D tensor. Each may be a scalar tensor.
/// Example: K::arange(5); K::arange(1, {.stop = 10, .step = 2});
[[nodiscard]] HORNGATE_API Tensor arange(const Number& start, const ArangeOptions& options = {});

/// Images enlarged by integer factors. `bilinear` puts the old pixels at multiples of the factor
/// and repeats the last one (like TensorFlow 1 without aligned corners).
/// Example: y = K::resize_images(x, 2, 2, K::DataFormat::channels_last);
[[nodiscard]] HORNGATE_API Tensor resize_images(
    const Tensor& x, int64_t height_factor, int64_t width_factor, Choice<DataFormat> data_format,
    InterpolationChoice interpolation = Interpolation::nearest);

/// Volumes enlarged by integer factors; elements are repeated.
/// Example: y = K::resize_volumes(x, 2, 2, 2, K::DataFormat::channels_last);
[[nodiscard]] HORNGATE_API Tensor resize_volumes(const Tensor& x, int64_t depth_factor,
                                                 int64_t height_factor, int64_t width_factor,
                                                 Choice<DataFormat> data_format);

/// How many zeros to put before and after an axis.
using PaddingPair = std::array<int64_t, 2>;

/// Zeros before and after the middle axis of a 3-D tensor.
/// Example: y = K::temporal_padding(x, {2, 0});
[[nodiscard]] HORNGATE_API Tensor temporal_padding(const Tensor& x,
                                                   const PaddingPair& padding = {1, 1});

struct Spatial2dPaddingOptions {
  std::array<PaddingPair, 2> padding = {PaddingPair{1, 1}, PaddingPair{1, 1}};  // rows, cols
  DataFormatChoice data_format = {};  // unset: image_data_format()
};

/// Zeros around the rows and columns of a 4-D tensor.
/// Example: y = K::spatial_2d_padding(x, {.padding = {{{1, 1}, {2, 0}}}});
[[nodiscard]] HORNGATE_API Tensor spatial_2d_padding(const Tensor& x,
                                                     const Spatial2dPaddingOptions& options = {});

struct Spatial3dPaddingOptions {
  std::array<PaddingPair, 3> padding = {PaddingPair{1, 1}, PaddingPair{1, 1},
                                        PaddingPair{1, 1}};  // depth, rows, cols
  DataFormatChoice data_format = {};                         // unset: image_data_format()
};

/// Zeros around depth, rows and columns of a 5-D tensor.
/// Example: y = K::spatial_3d_padding(x);
[[nodiscard]] HORNGATE_API Tensor spatial_3d_padding(const Tensor& x,
                                                     const Spatial3dPaddingOptions& options = {});

/// Adds a last axis that is 1 at the index and 0 elsewhere, in float32; all zeros for an index
/// outside [0, num_classes).
/// Example: t = K::one_hot(labels, 10);
[[nodiscard]] HORNGATE_API Tensor one_hot(const Tensor& indices, const Number& num_classes);

/// x reversed along axes.
/// Example: y = K::reverse(x, 1);
[[nodiscard]] HORNGATE_API Tensor reverse(const Tensor& x, const Axis& axes);

/// size[i] elements from start[i] on, on each axis i. A size of -1 or None takes the rest.
/// Example: y = K::slice(x, {0, 2}, {K::None, 3});
[[nodiscard]] HORNGATE_API Tensor slice(const Tensor& x, const ShapeArg& start,
                                        const ShapeArg& size);

/// A bound of Slice: left out, an integer (negative ones count from the end) or a scalar integer
/// tensor.
class Bound {
 public:
  Bound() = default;
  Bound(NoneType) {}
  template <std::integral T>
  Bound(T n) : number(static_cast<int64_t>(n)) {}
  Bound(Tensor t) : tensor(std::move(t)) {}
  bool given() const { return number.has_value() || tensor.defined(); }

  std::optional<int64_t> number;
  Tensor tensor;
};

/// Python's start:stop:step.
struct Slice {
  Bound start = {};
  Bound stop = {};
  int64_t step = 1;
};

struct EllipsisType {};
/// All axes not covered by the other indices.
inline constexpr EllipsisType Ellipsis{};

/// What may stand in brackets: an integer, a Slice, Ellipsis, None (a new axis), an integer tensor
/// (positions along the axis).
class Index {
 public:
  template <std::integral T>
  Index(T n) : value(static_cast<int64_t>(n)) {}
  Index(Slice slice) : value(std::move(slice)) {}
  Index(EllipsisType) : value(Ellipsis) {}
  Index(NoneType) : value(None) {}
  Index(Tensor t) : value(std::move(t)) {}

  std::variant<int64_t, Slice, EllipsisType, NoneType, Tensor> value;
};

/// x[indices], like NumPy's basic indexing.
/// Example: y = K::getitem(x, {K::Slice{}, K::Slice{.start = 1}, -1});
[[nodiscard]] HORNGATE_API Tensor getitem(const Tensor& x, std::span<const Index> indices);
[[nodiscard]] HORNGATE_API Tensor getitem(const Tensor& x, std::initializer_list<Index> indices);

/// x[i] along the first axis.
/// Example: first = K::index(x, 0);
[[nodiscard]] HORNGATE_API Tensor index(const Tensor& x, const Index& i);

}  // namespace horngate
