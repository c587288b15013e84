// Windows that slide over the spatial axes: what convolution and pooling share.
#pragma once

#include <string_view>

#include "api/args.h"
#include "api/dims.h"
#include "horngate/options.h"

namespace horngate {

struct Windows {
  std::string_view function;
  Ints size;  // taps per spatial axis
  Ints strides;
  Ints dilation;  // distance between taps
  Padding padding = Padding::valid;
  bool channels_first = false;

  size_t rank() const { return size.size(); }
  size_t first_axis() const { return channels_first ? 2 : 1; }
  size_t channel_axis() const { return channels_first ? 1 : rank() + 1; }
  /// The number of elements that a window spans.
  int64_t span(size_t i) const { return (size[i] - 1) * dilation[i] + 1; }
};

/// Whether the layout is channels_first; unset means image_data_format().
bool is_channels_first(std::optional<DataFormat> data_format);

/// Checks strides, dilation and padding, the rank of x and that windows fit where sizes are known.
/// Sizes that only a call knows may leave no place for a window: then the result is empty.
void check_windows(const Windows& w, const Tensor& x);

/// The padding of "same" windows over n elements along axis i: the result has ceil(n / stride)
/// elements, and the padding needed for that is split evenly, with the odd element at the end.
struct Margin {
  int64_t low = 0;
  int64_t high = 0;
};
Margin same_margin(const Windows& w, size_t i, int64_t n);
/// False if the margin depends on a size that is None, as it does for strides above 1.
bool has_fixed_margin(const Windows& w, size_t i, int64_t n);

/// x and the margins that the primitive should add.
struct Padded {
  Tensor x;
  Ints low, high;
  bool cut = false;  // x itself was padded with `value`
};
Padded pad_windows(const Windows& w, const Tensor& x, double value = 0.0);

/// Low margin of axis i for a size known only to the graph, as (1,) int64.
Tensor low_margin(const Windows& w, size_t i, const Tensor& n);

/// Takes x[start : start + size] on the axes where `cut` is set, everything on the others.
struct Cut {
  bool cut = false;
  Tensor start, size;  // (1,) int64
};
Tensor cut_axes(const Tensor& x, const std::vector<Cut>& cuts);

}  // namespace horngate
