// What the three convolution primitives share: checks of their geometry, and conversion between
// them.
#pragma once

#include "prims/rules.h"

namespace horngate::rules {

/// The axis of the channels, and the first spatial axis, in the data of a convolution or pool.
inline size_t channel_axis(size_t rank, bool channels_first) {
  return channels_first ? 1 : rank - 1;
}
inline size_t spatial_axis(bool channels_first) { return channels_first ? 2 : 1; }

/// Elements along a spatial axis of y: as many windows of `span` elements as fit into n + low +
/// high at steps of `stride`. None when x or the window is unknown there, 0 if not even one fits:
/// functions of K refuse that if they know the sizes.
int64_t window_count(int64_t n, int64_t span, int64_t stride, int64_t low, int64_t high);

/// An attribute with one entry per spatial axis, each at least `least`; empty means the default.
void check_per_axis(const char* name, const char* what, const Ints& values, size_t axes,
                    int64_t least);

struct ConvGeometry {
  Ints strides, low, high, dilation;
  int64_t groups = 1;
  bool channels_first = false;
};
template <class A>
ConvGeometry geometry_of(const A& a) {
  return {a.strides, a.pad_low, a.pad_high, a.dilation, a.groups, a.channels_first};
}

/// Shapes of x, kernel and y, None where unknown; what two of them tell about the third is filled
/// in. ValueError if they contradict each other.
struct ConvShapes {
  Shape x, kernel, y;
};
void check_conv(const char* name, const ConvGeometry& g, ConvShapes& shapes);

/// Two dense operands of one float dtype.
void check_conv_operands(const char* name, const InferCall& c, const char* first,
                         const char* second);

/// A `shape` attribute as a Shape: None for what an operand supplies.
Shape open_shape(const Ints& dims);

/// The attributes of another of the three primitives with the same geometry.
template <class To, class From>
To conv_attrs(const From& a) {
  To r;
  r.strides = a.strides;
  r.pad_low = a.pad_low;
  r.pad_high = a.pad_high;
  r.dilation = a.dilation;
  r.groups = a.groups;
  r.channels_first = a.channels_first;
  return r;
}

template <class From>
Tensor conv(const From& a, const Tensor& x, const Tensor& kernel) {
  return emit(conv_attrs<attrs::conv>(a), {x, kernel});
}

/// conv_input_grad or conv_filter_grad of two operands, with the shape of `like`.
template <class To, class From>
Tensor conv_grad(const From& a, const Tensor& first, const Tensor& second, const Tensor& like) {
  To r = conv_attrs<To>(a);
  const SymShape shape = prim::sym_shape(like);
  r.shape = shape.dims;
  SmallVec<Tensor, 2> in{first, second};
  if (shape.operand.defined()) in.push_back(shape.operand);
  return emit(std::move(r), std::move(in));
}
template <class From>
Tensor conv_input_grad(const From& a, const Tensor& dy, const Tensor& kernel, const Tensor& x) {
  return conv_grad<attrs::conv_input_grad>(a, dy, kernel, x);
}
template <class From>
Tensor conv_filter_grad(const From& a, const Tensor& x, const Tensor& dy, const Tensor& kernel) {
  return conv_grad<attrs::conv_filter_grad>(a, x, dy, kernel);
}

/// The gradients of the first two operands, none for a shape operand.
inline Tensors conv_grads(const GradCall& c, Tensor first, Tensor second) {
  Tensors r(c.node.in.size());
  r[0] = std::move(first);
  r[1] = std::move(second);
  return r;
}

}  // namespace horngate::rules
