// What the three convolution primitives share.
#include "prims/conv_rules.h"

#include "ir/checked.h"

namespace horngate::rules {
namespace {

const char* layout(bool channels_first) {
  return channels_first ? "channels_first" : "channels_last";
}

void check_channels(const char* name, const ConvGeometry& g, const ConvShapes& s) {
  const size_t rank = s.x.ndim(), at = channel_axis(rank, g.channels_first);
  const int64_t c = s.x.dim(at), o = s.y.dim(at);
  const int64_t per_group = s.kernel.dim(rank - 2), out = s.kernel.dim(rank - 1);
  if (c >= 0 && per_group >= 0 && g.groups == 1)
    check(c == per_group, name, "x has ", c, " channels (shape ", s.x, ", ",
          layout(g.channels_first), ") but kernel takes ", per_group, " (shape ", s.kernel, ").");
  else if (c >= 0 && per_group >= 0)
    check(c == per_group * g.groups, name, "x has ", c, " channels (shape ", s.x, ", ",
          layout(g.channels_first), ") but kernel takes ", per_group, " in each of ", g.groups,
          " groups (shape ", s.kernel, ").");
  check(out < 0 || out % g.groups == 0, name, "kernel must give a multiple of groups=", g.groups,
        " channels; got shape ", s.kernel, ".");
  check(same_dim(o, out) != kConflict, name, "y has ", o, " channels (shape ", s.y, ", ",
        layout(g.channels_first), ") but kernel gives ", out, " (shape ", s.kernel, ").");
}

void check_spatial(const char* name, const ConvGeometry& g, ConvShapes& s) {
  const auto entry = [](const Ints& v, size_t i, int64_t missing) {
    return v.empty() ? missing : v[i];
  };
  const size_t first = spatial_axis(g.channels_first);
  for (size_t i = 0; i + 2 < s.x.ndim(); ++i) {
    const int64_t n = s.x.dim(first + i), taps = s.kernel.dim(i);
    const int64_t low = entry(g.low, i, 0), high = entry(g.high, i, 0);
    check(taps != 0, name, "kernel must not be empty along a spatial axis; got shape ", s.kernel,
          ".");
    const int64_t span =
        taps < 0 ? taps
                 : checked_add(name, checked_mul(name, entry(g.dilation, i, 1), taps - 1), 1);
    const int64_t windows = window_count(n, span, entry(g.strides, i, 1), low, high);
    int64_t& y = s.y.dims()[first + i];
    const int64_t agreed = same_dim(y, windows);
    check(agreed != kConflict, name, "y must have ", windows, " elements on axis ", first + i,
          " for x ", s.x, " and kernel ", s.kernel, "; got shape ", s.y, ".");
    y = agreed;
  }
}

}  // namespace

int64_t window_count(int64_t n, int64_t span, int64_t stride, int64_t low, int64_t high) {
  if (n < 0 || span < 0) return Shape::kUnknown;
  const int64_t room = checked_add("window", checked_add("window", n, low), high) - span;
  return room < 0 ? 0 : room / stride + 1;
}

void check_per_axis(const char* name, const char* what, const Ints& values, size_t axes,
                    int64_t least) {
  check(values.empty() || values.size() == axes, name, what, " must have ", axes,
        axes == 1 ? " entry" : " entries", ", one per spatial axis; got ", values, ".");
  for (int64_t v : values) {
    check(v >= least, name, what, " must be at least ", least, "; got ", values, ".");
    check(v <= kMostBytes, name, what, " must be at most ", kMostBytes, "; got ", values, ".");
  }
}

void check_conv(const char* name, const ConvGeometry& g, ConvShapes& s) {
  const size_t rank = s.x.ndim();
  check(rank >= 3 && rank <= 5, name, "x must have 3, 4 or 5 dimensions; got shape ", s.x, ".");
  check(s.kernel.ndim() == rank, name, "kernel must have ", rank,
        " dimensions (spatial axes, in, out) for x of shape ", s.x, "; got shape ", s.kernel, ".");
  check(s.y.ndim() == rank, name, "y must have ", rank, " dimensions, as x has; got shape ", s.y,
        ".");
  check_per_axis(name, "strides", g.strides, rank - 2, 1);
  check_per_axis(name, "pad_low", g.low, rank - 2, 0);
  check_per_axis(name, "pad_high", g.high, rank - 2, 0);
  check_per_axis(name, "dilation", g.dilation, rank - 2, 1);
  check(g.groups >= 1, name, "groups must be at least 1; got ", g.groups, ".");
  const size_t at = channel_axis(rank, g.channels_first);
  const int64_t n = same_dim(s.x.dim(0), s.y.dim(0));
  check(n != kConflict, name, "x and y must have the same batch size; got shapes ", s.x, " and ",
        s.y, ".");
  check_channels(name, g, s);
  s.x.dims()[0] = s.y.dims()[0] = n;
  int64_t &c = s.x.dims()[at], &per_group = s.kernel.dims()[rank - 2];
  if (c < 0 && per_group >= 0) c = per_group * g.groups;
  if (per_group < 0 && c >= 0) per_group = c / g.groups;
  int64_t &o = s.y.dims()[at], &out = s.kernel.dims()[rank - 1];
  o = out = same_dim(o, out);
  check_spatial(name, g, s);
}

void check_conv_operands(const char* name, const InferCall& c, const char* first,
                         const char* second) {
  check_dense(name, c);
  check_kind(name, first, c.in[0].dtype, Kind::floats);
  check<TypeError>(c.in[0].dtype == c.in[1].dtype, name, first, " and ", second,
                   " must have the same dtype; got ", c.in[0].dtype, " and ", c.in[1].dtype, ".");
}

Shape open_shape(const Ints& dims) {
  Ints r = dims;
  for (int64_t& d : r)
    if (d == kFromOperand) d = Shape::kUnknown;
  return Shape(std::move(r));
}

}  // namespace horngate::rules
