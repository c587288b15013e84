// Convolution and its two gradients. The library convolves (n, c, rows, cols) without dilation, so kernels are spread
// with zeros, and both gradients are convolutions again:
//   for x:      dy spread by the strides, with the kernel reversed and its channels exchanged
//   for kernel: x with samples as channels, with dy spread by the strides as the kernel
// Axes are moved in steps that leave long rows: the library's loops are slow on short ones.
#include <algorithm>

#include "cntk/lower.h"

namespace horngate::cntk {
namespace {

struct Geometry {
  Window window;
  Dims dilation;
  int64_t groups;
  size_t spatial, first;  // number of spatial axes, and the first of them

  explicit Geometry(const Attrs& a)
      : window{a.ints("strides"), a.ints("pad_low"), a.ints("pad_high")},
        dilation(a.ints("dilation")),
        groups(a.number("groups")),
        spatial(window.strides.size()),
        first(a.number("channels_first") ? 2 : 1) {}
  bool channels_first() const { return first == 2; }
};

/// Puts `by` - 1 zeros between neighbours on the axes from `first` on.
Val spread(Build& b, const Val& x, size_t first, const Dims& by) {
  Val y = x;
  for (size_t i = 0; i < by.size(); ++i) {
    const int64_t n = y.dims[first + i];
    if (by[i] == 1 || n == 1) continue;
    const auto at = y.dims.begin() + static_cast<int64_t>(first + i);
    const int64_t before = count(Dims(y.dims.begin(), at)),
                  after = count(Dims(at + 1, y.dims.end()));
    Dims out = y.dims;
    out[first + i] = (n - 1) * by[i] + 1;
    Val z = b.pad(b.reshape(y, {before, n, 1, after}), {0, 0, 0, 0}, {0, 0, by[i] - 1, 0}, 0);
    z = b.slice(b.reshape(z, {before, n * by[i], after}), 1, 0, out[first + i]);
    y = b.reshape(z, out);
  }
  return y;
}

/// What the library should pad itself. Only what it does well: steps of 1, padding of at most half a kernel that is
/// no larger than x, and the same on both sides if there are groups (else it takes all channels from the first).
/// Otherwise zeros are added here; negative padding is cut away.
Val padded(Build& b, const Val& x, size_t first, const Dims& kernel, Window& by, int64_t groups) {
  bool fits = true;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const int64_t low = by.low[i], high = by.high[i], half = kernel[i] / 2;
    if (low == 0 && high == 0) continue;
    fits &= by.strides[i] == 1 && kernel[i] <= x.dims[first + i] && low >= 0 && high >= 0 &&
            low <= half && high <= half && (groups == 1 || low == high);
  }
  if (fits) return x;
  Dims starts(x.rank(), 0), stops = x.dims, before(x.rank(), 0), after(x.rank(), 0);
  for (size_t i = 0; i < kernel.size(); ++i) {
    starts[first + i] = std::max<int64_t>(0, -by.low[i]);
    stops[first + i] -= std::max<int64_t>(0, -by.high[i]);
    before[first + i] = std::max<int64_t>(0, by.low[i]);
    after[first + i] = std::max<int64_t>(0, by.high[i]);
    by.low[i] = by.high[i] = 0;
  }
  return b.pad(b.slices(x, starts, stops, Dims(x.rank(), 1)), before, after, 0);
}

/// Groups of channels. The library has them for two axes; otherwise each group is a separate convolution.
Val grouped(Build& b, const Val& x, const Val& w, const Window& by, int64_t groups) {
  if (groups == 1 || by.strides.size() == 2) return b.conv(x, w, by, groups);
  const int64_t in = x.dims[1] / groups, out = w.dims[0] / groups;
  std::vector<Val> parts;
  for (int64_t g = 0; g < groups; ++g)
    parts.push_back(
        b.conv(b.slice(x, 1, g * in, (g + 1) * in), b.slice(w, 0, g * out, (g + 1) * out), by, 1));
  return b.concat(parts, 1);
}

/// A convolution over one axis is done over two, one of them of size 1.
Val convolve(const LowerCall& c, const Val& x, const Val& w, Window by, int64_t groups) {
  Build& b = c.b;
  Dims xd = x.dims, wd = w.dims;
  while (by.strides.size() < 2) {
    xd.insert(xd.begin() + 2, 1);
    wd.insert(wd.begin() + 2, 1);
    by.strides.insert(by.strides.begin(), 1);
    by.low.insert(by.low.begin(), 0);
    by.high.insert(by.high.begin(), 0);
  }
  const Val y = grouped(b, b.reshape(x, xd), b.reshape(w, wd), by, groups);
  Dims out{y.dims[0], y.dims[1]};
  for (size_t i = y.rank() - (x.rank() - 2); i < y.rank(); ++i) out.push_back(y.dims[i]);
  return b.reshape(y, out);
}

/// Appends the numbers from, from + 1, ..
Dims with_range(Dims head, size_t from, size_t n) {
  for (size_t i = 0; i < n; ++i) head.push_back(static_cast<int64_t>(from + i));
  return head;
}

Val conv(const LowerCall& c) {
  Build& b = c.b;
  Geometry g(c.attrs);
  const auto s = static_cast<int64_t>(g.spatial);
  const Val kernel = spread(b, c.in(1), 0, g.dilation);
  const Dims reach(kernel.dims.begin(), kernel.dims.begin() + s);
  const Val x = channels_to_front(b, padded(b, c.in(0), g.first, reach, g.window, g.groups),
                                  g.channels_first());
  // (spatial.., c, out) to (out, c, spatial..)
  const Val w = b.transpose(kernel, with_range({s + 1, s}, 0, g.spatial));
  return channels_to_back(b, convolve(c, x, w, g.window, g.groups), g.channels_first());
}

Val conv_input_grad(const LowerCall& c) {
  Build& b = c.b;
  Geometry g(c.attrs);
  const auto s = static_cast<int64_t>(g.spatial);
  Val dy = spread(b, c.in(0), g.first, g.window.strides);
  // The taps in one row, reversed; then zeros between them.
  const Val& kernel = c.in(1);  // (spatial.., c / groups, out)
  const int64_t in = kernel.dims[g.spatial], out = kernel.dims[g.spatial + 1];
  const int64_t taps = count(kernel.dims) / (in * out);
  Val w = b.reshape(b.reverse(b.reshape(kernel, {taps, in * out}), 0), kernel.dims);
  w = spread(b, w, 0, g.dilation);
  // (spatial.., c / g, g, out / g) to (g, c / g, out / g, spatial..)
  Dims split = w.dims, turned{in * g.groups, out / g.groups};
  split.back() = g.groups;
  split.push_back(out / g.groups);
  turned.insert(turned.end(), w.dims.begin(), w.dims.begin() + s);
  w = b.reshape(b.transpose(b.reshape(w, split), with_range({s + 1, s, s + 2}, 0, g.spatial)),
                turned);
  Window by{Dims(g.spatial, 1), {}, {}};
  const Dims x_dims = c.out_dims();
  for (size_t i = 0; i < g.spatial; ++i) {
    const int64_t reach = w.dims[2 + i] - 1;
    by.low.push_back(reach - g.window.low[i]);
    by.high.push_back(x_dims[g.first + i] + reach - dy.dims[g.first + i] - by.low.back());
  }
  const Dims reach(w.dims.begin() + 2, w.dims.end());
  dy = channels_to_front(b, padded(b, dy, g.first, reach, by, g.groups), g.channels_first());
  return channels_to_back(b, convolve(c, dy, w, by, g.groups), g.channels_first());
}

/// (n, spatial.., c) or (n, c, spatial..) to (c / groups, groups * n, spatial..): samples become channels.
Val samples_to_channels(Build& b, const Val& x, const Geometry& g, int64_t groups) {
  const auto s = static_cast<int64_t>(g.spatial);
  const int64_t n = x.dims[0], channels = x.dims[g.channels_first() ? 1 : g.spatial + 1];
  const auto at = x.dims.begin() + static_cast<int64_t>(g.first);
  const Dims room(at, at + s);
  Dims split{n}, perm, merged{channels / groups, groups * n};
  if (g.channels_first()) {
    split.insert(split.end(), {groups, channels / groups});
    split.insert(split.end(), room.begin(), room.end());
    perm = with_range({2, 1, 0}, 3, g.spatial);
  } else {
    split.insert(split.end(), room.begin(), room.end());
    split.insert(split.end(), {groups, channels / groups});
    perm = with_range({s + 2, s + 1, 0}, 1, g.spatial);
  }
  merged.insert(merged.end(), room.begin(), room.end());
  return b.reshape(b.transpose(b.reshape(x, split), perm), merged);
}

Val conv_filter_grad(const LowerCall& c) {
  Build& b = c.b;
  const Geometry g(c.attrs);
  const Val& x = c.in(0);
  const Val dy = spread(b, c.in(1), g.first, g.window.strides);
  const Dims kernel = c.out_dims();  // (spatial.., c / groups, out)
  // Padding with which a window as large as dy has as many places as the kernel has taps.
  Window by{g.dilation, g.window.low, {}};
  for (size_t i = 0; i < g.spatial; ++i)
    by.high.push_back((kernel[i] - 1) * g.dilation[i] + dy.dims[g.first + i] - x.dims[g.first + i] -
                      by.low[i]);
  const auto at = dy.dims.begin() + static_cast<int64_t>(g.first);
  const Dims reach(at, at + static_cast<int64_t>(g.spatial));
  const Val wide = samples_to_channels(b, padded(b, x, g.first, reach, by, g.groups), g, g.groups);
  const Val w = convolve(c, wide, samples_to_channels(b, dy, g, 1), by, g.groups);
  // (c / g, out, spatial..) to (spatial.., c / g, out)
  Dims back = with_range({}, 2, g.spatial);
  back.insert(back.end(), {0, 1});
  return b.transpose(w, back);
}

}  // namespace

Val channels_to_front(Build& b, const Val& x, bool is_there) {
  if (is_there) return x;
  return b.transpose(x, with_range({0, static_cast<int64_t>(x.rank()) - 1}, 1, x.rank() - 2));
}

Val channels_to_back(Build& b, const Val& x, bool stays) {
  if (stays) return x;
  Dims perm = with_range({0}, 2, x.rank() - 2);
  perm.push_back(1);
  return b.transpose(x, perm);
}

// The gradient of a convolution with ones.
Val sum_of_windows(const LowerCall& c, const Val& dy, const Dims& room, const Dims& window,
                   const Window& by) {
  Build& b = c.b;
  const Val wide = spread(b, dy, 1, by.strides);
  Window around{Dims(window.size(), 1), {}, {}};
  for (size_t i = 0; i < window.size(); ++i) {
    around.low.push_back(window[i] - 1 - by.low[i]);
    around.high.push_back(room[i] + window[i] - 1 - wide.dims[1 + i] - around.low.back());
  }
  Val x = padded(b, wide, 1, window, around, 1);
  Dims xd = x.dims, wd{1, 1}, out{dy.dims[0]};
  xd.insert(xd.begin() + 1, 1);
  wd.insert(wd.end(), window.begin(), window.end());
  out.insert(out.end(), room.begin(), room.end());
  const std::vector<double> ones(static_cast<size_t>(count(wd)), 1);
  return b.reshape(convolve(c, b.reshape(x, xd), b.constant(dy.type, wd, ones), around, 1), out);
}

void add_convolutions(Table& t) {
  t["conv"] = {conv, {}, {}};
  t["conv_input_grad"] = {conv_input_grad, {}, {}};
  t["conv_filter_grad"] = {conv_filter_grad, {}, {}};
}

}  // namespace horngate::cntk
