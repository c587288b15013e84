// Convolutions: arguments checked, "same" turned into numbers, then the primitives conv and
// conv_input_grad.
#include "horngate/ops/conv.h"

#include <algorithm>

#include "api/windows.h"
#include "ir/checked.h"

namespace horngate {
namespace {

template <size_t N>
Ints ints_of(const std::array<int64_t, N>& a) {
  return Ints(a.begin(), a.end());
}

Ints spatial_of(const Tensor& kernel, size_t rank) {
  return Ints(kernel.shape().dims().begin(), kernel.shape().dims().begin() + rank);
}

/// A kernel has `rank` spatial axes of known size, and two more.
void check_kernel(std::string_view function, const Tensor& kernel, size_t rank,
                  std::string_view layout, std::string_view argument = "kernel") {
  const Shape& s = kernel.shape();
  check(s.ndim() == rank + 2, function, argument, " must have ", rank + 2, " dimensions ", layout,
        "; got shape ", s, ".");
  const Ints spatial = spatial_of(kernel, rank);
  check(std::all_of(spatial.begin(), spatial.end(), [](int64_t n) { return n >= 1; }), function,
        argument, " must have spatial dimensions that are known and not 0; got shape ", s, ".");
}

/// x must have the number of channels that the kernel takes.
void check_channels(const Windows& w, const Tensor& x, const Tensor& kernel, size_t kernel_axis) {
  const int64_t has = x.shape().dim(w.channel_axis()), takes = kernel.shape().dim(kernel_axis);
  check(has < 0 || takes < 0 || has == takes, w.function, "x has ", has, " channels (shape ",
        x.shape(), ", ", w.channels_first ? "channels_first" : "channels_last",
        ") but kernel takes ", takes, " (shape ", kernel.shape(), ").");
}

struct Operands {
  Tensor x, kernel;
};

Operands operands_of(std::string_view function, const Tensor& x, const Tensor& kernel,
                     std::string_view kernel_name = "kernel") {
  Operands o{float_operand(function, x), float_operand(function, kernel, kernel_name)};
  unify(function, &o.x, &o.kernel);
  return o;
}

Tensor conv_windows(const Windows& w, const Tensor& x, const Tensor& kernel, int64_t groups = 1) {
  const Padded p = pad_windows(w, x);
  return emit(attrs::conv{.strides = w.strides,
                          .pad_low = p.low,
                          .pad_high = p.high,
                          .dilation = w.dilation,
                          .groups = groups,
                          .channels_first = w.channels_first},
              {p.x, kernel});
}

struct Geometry {
  Ints strides, dilation;
  Padding padding;
  std::optional<DataFormat> data_format;
};
Geometry geometry_of(const Conv1dOptions& o) {
  return {{o.strides}, {o.dilation_rate}, o.padding, o.data_format};
}
Geometry geometry_of(const Conv2dOptions& o) {
  return {ints_of(o.strides), ints_of(o.dilation_rate), o.padding, o.data_format};
}
Geometry geometry_of(const Conv3dOptions& o) {
  return {ints_of(o.strides), ints_of(o.dilation_rate), o.padding, o.data_format};
}
Geometry geometry_of(const Conv3dTransposeOptions& o) {
  return {ints_of(o.strides), {1, 1, 1}, o.padding, o.data_format};
}

Windows windows_of(std::string_view function, const Geometry& g, const Tensor& kernel) {
  return {function,  spatial_of(kernel, g.strides.size()), g.strides, g.dilation,
          g.padding, is_channels_first(g.data_format)};
}

Tensor conv(std::string_view function, const Tensor& x, const Tensor& kernel, const Geometry& g,
            std::string_view layout) {
  const auto [in, k] = operands_of(function, x, kernel);
  const size_t rank = g.strides.size();
  check_kernel(function, k, rank, layout);
  const Windows w = windows_of(function, g, k);
  check_windows(w, in);
  check_channels(w, in, k, rank);
  return conv_windows(w, in, k);
}

// The kernel (spatial.., in, multiplier) of a depthwise step is (spatial.., 1, in * multiplier) for
// a convolution with as many groups as channels.
Tensor depthwise(std::string_view function, const Tensor& x, const Tensor& kernel,
                 const Geometry& g, std::string_view layout) {
  const auto [in, k] = operands_of(function, x, kernel, "depthwise_kernel");
  const size_t rank = g.strides.size();
  check_kernel(function, k, rank, layout, "depthwise_kernel");
  const int64_t channels = k.shape().dim(rank), multiplier = k.shape().dim(rank + 1);
  check(channels >= 1 && multiplier >= 0, function,
        "depthwise_kernel must have a known shape; got ", k.shape(), ".");
  const Windows w = windows_of(function, g, k);
  check_windows(w, in);
  check_channels(w, in, k, rank);
  Ints dims = spatial_of(k, rank);
  dims.push_back(1);
  dims.push_back(channels * multiplier);
  return conv_windows(w, in, prim::reshape(k, dims), channels);
}

Tensor separable(std::string_view function, const Tensor& x, const Tensor& depthwise_kernel,
                 const Tensor& pointwise_kernel, const Geometry& g, std::string_view layout,
                 std::string_view pointwise_layout) {
  const size_t rank = g.strides.size();
  const auto [in, point] = operands_of(function, x, pointwise_kernel, "pointwise_kernel");
  check_kernel(function, point, rank, pointwise_layout, "pointwise_kernel");
  const Ints ones(rank, 1);
  check(spatial_of(point, rank) == ones, function, "pointwise_kernel must have dimensions ",
        pointwise_layout, "; got shape ", point.shape(), ".");
  const Tensor middle = depthwise(function, in, depthwise_kernel, g, layout);
  const int64_t has = depthwise_kernel.shape().dim(rank) * depthwise_kernel.shape().dim(rank + 1);
  const int64_t takes = point.shape().dim(rank);
  check(takes < 0 || takes == has, function, "depthwise_kernel of shape ", depthwise_kernel.shape(),
        " gives ", has, " channels but pointwise_kernel takes ", takes, " (shape ", point.shape(),
        ").");
  const Windows w{function, ones, ones, ones, Padding::valid, is_channels_first(g.data_format)};
  Operands o{middle, point};
  unify(function, &o.x, &o.kernel);
  return conv_windows(w, o.x, o.kernel);
}

/// The shape of the result: the samples of x if left open, the kernel's channels, and spatial sizes. Tensors for the first
/// two give x and kernel these sizes, which a call checks.
SymDims transposed_dims(const Windows& w, Tensor& x, Tensor& kernel, const ShapeArg& output_shape) {
  const SymShape shape = sym_shape_of(w.function, output_shape, "output_shape");
  check(shape.dims.size() == x.ndim(), w.function, "output_shape must have ", x.ndim(),
        " entries; got ", shape.dims.size(), ".");
  SymDims dims;
  for (size_t i = 0; i < x.ndim(); ++i) {
    if (i == 0 && shape.dims[i] < 0) {
      if (shape.dims[i] == kFromOperand) x = with_size(x, 0, dim_of(shape, i));
      dims.push_back(dim_of(x, 0));
    } else if (i == w.channel_axis() && shape.dims[i] < 0) {
      if (shape.dims[i] == kFromOperand) kernel = with_size(kernel, w.rank(), dim_of(shape, i));
      dims.push_back(dim_of(kernel, w.rank()));
    } else {
      check(shape.dims[i] != kInfer, w.function,
            "output_shape must give every dimension but the first; got None on axis ", i, ".");
      check(shape.dims[i] <= kMostBytes, w.function, "output_shape must have entries of at most ",
            kMostBytes, "; got ", shape.dims[i], ".");
      dims.push_back(dim_of(shape, i));
    }
  }
  const int64_t n = x.shape().dim(0), channels = kernel.shape().dim(w.rank());
  check(n < 0 || !dims[0].is_known() || dims[0].known == n, w.function,
        "output_shape must begin with the ", n, " samples of x of shape ", x.shape(), "; got ",
        dims[0].known, ".");
  const SymDim& c = dims[w.channel_axis()];
  check(channels < 0 || !c.is_known() || c.known == channels, w.function, "output_shape has ",
        c.known, " channels but kernel makes ", channels, " (shape ", kernel.shape(), ").");
  return dims;
}

/// How many elements a convolution with these windows makes from n.
int64_t windows_in(const Windows& w, size_t i, int64_t n) {
  if (w.padding == Padding::same) return (n + w.strides[i] - 1) / w.strides[i];
  return n < w.span(i) ? 0 : (n - w.span(i)) / w.strides[i] + 1;
}

void check_transposed(const Windows& w, const Tensor& x, const SymDims& dims) {
  for (size_t i = 0; i < w.rank(); ++i) {
    const size_t axis = w.first_axis() + i;
    const int64_t has = x.shape().dim(axis), wanted = dims[axis].known;
    check(wanted < 0 || w.padding == Padding::same || wanted >= w.span(i), w.function,
          "output_shape must have at least the ", w.span(i), " elements of a window on axis ", axis,
          "; got ", wanted, ".");
    if (has < 0 || wanted < 0) continue;
    check(windows_in(w, i, wanted) == has, w.function, "x of shape ", x.shape(), " has ", has,
          " elements on axis ", axis, ", but an output_shape of ", wanted, " there needs ",
          windows_in(w, i, wanted), " (strides ", w.strides, ", padding \"", name_of(w.padding),
          "\").");
  }
}

/// How many elements `steps` windows span together.
SymDim whole_size(const Windows& w, size_t i, const SymDim& steps) {
  const int64_t s = w.strides[i], rest = w.span(i) - s;
  if (steps.is_known())
    return std::max<int64_t>(checked_add(w.function, checked_mul(w.function, steps.known, s), rest),
                             0);
  const Tensor size =
      prim::shift(prim::scale(steps.tensor, static_cast<double>(s)), static_cast<double>(rest));
  return {Shape::kUnknown, prim::maximum(size, prim::constant(Array::of<int64_t>({0})))};
}

// The gradient of a convolution for its input. If a margin depends on a size that is None, the
// whole result of (n - 1) * stride + span elements is made, and the part without the margin is cut
// out of it. Places that no window reaches stay 0.
Tensor conv_transpose(std::string_view function, const Tensor& x, const Tensor& kernel,
                      const ShapeArg& output_shape, const Geometry& g, std::string_view layout) {
  auto [in, k] = operands_of(function, x, kernel);
  const size_t rank = g.strides.size();
  check_kernel(function, k, rank, layout);
  check_padding(g.padding, function);
  Windows w = windows_of(function, g, k);
  w.padding = Padding::same;  // x is the result of the windows, so they need not fit in it
  check_windows(w, in);
  w.padding = g.padding;
  check_channels(w, in, k, rank + 1);
  SymDims dims = transposed_dims(w, in, k, output_shape);
  check_transposed(w, in, dims);

  Ints low(rank, 0), high(rank, 0), more(in.ndim(), 0);
  std::vector<Cut> cuts(in.ndim());
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = w.first_axis() + i;
    SymDim& n = dims[axis];
    if (has_fixed_margin(w, i, n.known)) {
      if (w.padding != Padding::same) continue;
      const Margin m = same_margin(w, i, n.is_known() ? n.known : 1);
      low[i] = m.low;
      high[i] = m.high;
      continue;
    }
    cuts[axis] = {true, low_margin(w, i, n.tensor), n.tensor};
    more[axis] = w.strides[i] - 1;
    const Tensor windows =
        prim::floordiv(prim::shift(n.tensor, static_cast<double>(w.strides[i] - 1)),
                       prim::constant(Array::of<int64_t>({w.strides[i]})));
    n = whole_size(w, i, dim_of(in, axis));
    // Nothing else checks that x has as many elements as there are windows over n.
    in = with_size(in, axis, {Shape::kUnknown, windows});
  }
  const SymShape shape = shape_of_dims(dims);
  SmallVec<Tensor, 2> operands{in, k};
  if (shape.operand.defined()) operands.push_back(shape.operand);
  const Tensor y = emit(attrs::conv_input_grad{.strides = w.strides,
                                               .pad_low = low,
                                               .pad_high = high,
                                               .dilation = w.dilation,
                                               .groups = 1,
                                               .channels_first = w.channels_first,
                                               .shape = shape.dims},
                        std::move(operands));
  return cut_axes(prim::pad(y, Ints(in.ndim(), 0), more), cuts);
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& kernel, const Conv1dOptions& options) {
  const CalledAs called(__func__);
  check_padding(options.padding, "conv1d", {Padding::valid, Padding::same, Padding::causal});
  check(options.padding != Padding::causal || !is_channels_first(options.data_format), "conv1d",
        "data_format must be \"channels_last\" with causal padding; got \"channels_first\".");
  return conv("conv1d", x, kernel, geometry_of(options), "(steps, in, out)");
}

Tensor conv2d(const Tensor& x, const Tensor& kernel, const Conv2dOptions& options) {
  const CalledAs called(__func__);
  check_padding(options.padding, "conv2d");
  return conv("conv2d", x, kernel, geometry_of(options), "(rows, cols, in, out)");
}

Tensor conv3d(const Tensor& x, const Tensor& kernel, const Conv3dOptions& options) {
  const CalledAs called(__func__);
  check_padding(options.padding, "conv3d");
  return conv("conv3d", x, kernel, geometry_of(options), "(d1, d2, d3, in, out)");
}

Tensor conv2d_transpose(const Tensor& x, const Tensor& kernel, const ShapeArg& output_shape,
                        const Conv2dOptions& options) {
  const CalledAs called(__func__);
  return conv_transpose("conv2d_transpose", x, kernel, output_shape, geometry_of(options),
                        "(rows, cols, out, in)");
}

Tensor conv3d_transpose(const Tensor& x, const Tensor& kernel, const ShapeArg& output_shape,
                        const Conv3dTransposeOptions& options) {
  const CalledAs called(__func__);
  return conv_transpose("conv3d_transpose", x, kernel, output_shape, geometry_of(options),
                        "(d1, d2, d3, out, in)");
}

Tensor depthwise_conv2d(const Tensor& x, const Tensor& depthwise_kernel,
                        const Conv2dOptions& options) {
  const CalledAs called(__func__);
  check_padding(options.padding, "depthwise_conv2d");
  return depthwise("depthwise_conv2d", x, depthwise_kernel, geometry_of(options),
                   "(rows, cols, in, multiplier)");
}

Tensor separable_conv1d(const Tensor& x, const Tensor& depthwise_kernel,
                        const Tensor& pointwise_kernel, const Conv1dOptions& options) {
  const CalledAs called(__func__);
  check_padding(options.padding, "separable_conv1d");
  return separable("separable_conv1d", x, depthwise_kernel, pointwise_kernel, geometry_of(options),
                   "(steps, in, multiplier)", "(1, in * multiplier, out)");
}

Tensor separable_conv2d(const Tensor& x, const Tensor& depthwise_kernel,
                        const Tensor& pointwise_kernel, const Conv2dOptions& options) {
  const CalledAs called(__func__);
  check_padding(options.padding, "separable_conv2d");
  return separable("separable_conv2d", x, depthwise_kernel, pointwise_kernel, geometry_of(options),
                   "(rows, cols, in, multiplier)", "(1, 1, in * multiplier, out)");
}

}  // namespace horngate
