// What convolutions and pools share: layouts, and windows cut out of an array tap by tap.
#pragma once

#include <functional>

#include "lower.h"

namespace horngate::onnx {

/// The windows of a convolution or pool; one entry per spatial axis.
struct Windows {
  Ints size, strides, low, high, dilation;
  bool channels_first = false;
  size_t rank() const { return size.size(); }
};
/// From the attributes of a node; dilation is 1 if it has none.
Windows windows_of(const Op& op, Ints size);

/// ONNX's own operators want (n, c, spatial..), what we build tap by tap (n, spatial.., c).
Value to_first(Builder& b, const Value& x, bool channels_first);
Value to_last(Builder& b, const Value& x, bool channels_first);
Value from_first(Builder& b, const Value& x, bool channels_first);
Value from_last(Builder& b, const Value& x, bool channels_first);

/// The dimensions of x in those layouts.
Dims first_dims(const Dims& dims, bool channels_first);
Dims last_dims(const Dims& dims, bool channels_first);

/// Strides, dilations and so on as attributes.
Attributes window_attributes(const Windows& w, const Ints& low, const Ints& high);

/// Calls f with each tap (an offset per spatial axis) in row-major order.
void for_each_tap(const Windows& w, const std::function<void(const Ints& tap)>& f);

/// The elements of x (n, spatial.., c; already padded) that a tap sees: (n, out.., c).
Value seen_by_tap(Builder& b, const Value& padded, const Windows& w, const Ints& tap,
                  const Ints& out);
Value pad_windows(Builder& b, const Value& x_last, const Windows& w, double value);

/// The reverse: y (n, out.., c) put where a tap saw it, into zeros (n, spatial.., c). An empty name if that is
/// outside.
Value put_by_tap(Builder& b, const Value& y, const Windows& w, const Ints& tap,
                 const Ints& spatial);
Value sum(Builder& b, const std::vector<Value>& parts);

/// The spatial dimensions of (n, spatial.., c).
Ints spatial_of(const Value& x_last);

}  // namespace horngate::onnx
