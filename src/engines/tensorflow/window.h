// Windows over space: what convolutions and pools share. TensorFlow's CPU kernels want channels last and two or
// three spatial axes, so data is converted to that form and back.
#pragma once

#include "lower.h"

namespace horngate::tf {

/// How a node's data becomes (n, spatial.., channels) with two or three spatial axes.
struct Layout {
  size_t axes;          // spatial axes of the node
  bool channels_first;  // of the node's data

  bool is_3d() const { return axes == 3; }
  size_t spatial() const { return axes == 1 ? 2 : axes; }
  Dims to_last() const;
  Dims to_first() const;
  /// One entry per spatial axis, with `missing` for the additional axis of 1-D data.
  Dims widen(const Dims& v, int64_t missing) const;
  /// (n, spatial.., channels) from dimensions in the node's own form.
  Dims dims(const Dims& of_node) const;
  Value data(Graph& g, const Value& x) const;
  /// The way back, to the node's own dimensions.
  Value back(Graph& g, const Value& y, const Dims& of_node) const;
};

/// Margins as TensorFlow can express them.
enum class Margin { kNone, kSame, kOther };
Margin margin_of(const Dims& n, const Dims& span, const Dims& strides, const Dims& low,
                 const Dims& high);

/// Adds an entry at either end, for the batch and channel axes.
Dims framed(const Dims& v, int64_t with);

}  // namespace horngate::tf
