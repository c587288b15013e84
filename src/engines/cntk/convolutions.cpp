// Convolution, its two gradients, and pooling. The library convolves (n, c, rows, cols) without dilation; kernels are
// spread with zeros for that, and both gradients are convolutions again:
//   to x:      dy spread by the strides, with the kernel turned around and its channels exchanged
//   to kernel: x with samples as channels, with dy spread by the strides as the kernel
#include <cmath>

#include "cntk/lower.h"

namespace horngate::cntk {
namespace {

struct Geometry {
  Dims strides, low, high, dilation;
  int64_t groups;
  bool channels_first;
  size_t spatial;

  explicit Geometry(const Attrs& a)
      : strides(a.ints("strides")),
        low(a.ints("pad_low")),
        high(a.ints("pad_high")),
        dilation(a.ints("dilation")),
        groups(a.number("groups")),
        channels_first(a.number("channels_first")),
        spatial(strides.size()) {}
};

Dims range(size_t from, size_t to) {
  Dims out;
  for (size_t i = from; i < to; ++i) out.push_back(static_cast<int64_t>(i));
  return out;
}

/// (n, spatial.., c) to (n, c, spatial..).
Val channels_to_front(Build& b, const Val& x, bool is_there) {
  if (is_there) return x;
  Dims perm{0, static_cast<int64_t>(x.rank()) - 1};
  for (int64_t i : range(1, x.rank() - 1)) perm.push_back(i);
  return b.transpose(x, perm);
}

Val channels_to_back(Build& b, const Val& x, bool stays) {
  if (stays) return x;
  Dims perm{0};
  for (int64_t i : range(2, x.rank())) perm.push_back(i);
  perm.push_back(1);
  return b.transpose(x, perm);
}

/// `by` - 1 zeros between neighbours of the axes from 2 on.
Val spread(Build& b, const Val& x, const Dims& by) {
  Val y = x;
  for (size_t i = 0; i < by.size(); ++i) {
    const int64_t n = y.dims[2 + i];
    if (by[i] == 1 || n == 1) continue;
    const auto at = y.dims.begin() + static_cast<int64_t>(2 + i);
    const int64_t before = count(Dims(y.dims.begin(), at)),
                  after = count(Dims(at + 1, y.dims.end()));
    Dims out = y.dims;
    out[2 + i] = (n - 1) * by[i] + 1;
    Val z = b.pad(b.reshape(y, {before, n, 1, after}), {0, 0, 0, 0}, {0, 0, by[i] - 1, 0}, 0);
    z = b.slice(b.reshape(z, {before, n * by[i], after}), 1, 0, out[2 + i]);
    y = b.reshape(z, out);
  }
  return y;
}

/// Pads the axes from 2 on; less than nothing cuts.
Val pad_or_cut(Build& b, const Val& x, const Dims& low, const Dims& high) {
  Val y = x;
  Dims more(2, 0), after(2, 0);
  for (size_t i = 0; i < low.size(); ++i) {
    const int64_t n = y.dims[2 + i];
    y = b.slice(y, 2 + i, std::max<int64_t>(0, -low[i]), n - std::max<int64_t>(0, -high[i]));
    more.push_back(std::max<int64_t>(0, low[i]));
    after.push_back(std::max<int64_t>(0, high[i]));
  }
  return b.pad(y, more, after, 0);
}

/// Groups of channels. The library has them for two axes; else each group is a convolution of its own.
Val grouped(Build& b, const Val& x, const Val& w, const Dims& strides, int64_t groups) {
  if (groups == 1 || strides.size() == 2) return b.conv(x, w, strides, groups);
  const int64_t in = x.dims[1] / groups, out = w.dims[0] / groups;
  std::vector<Val> parts;
  for (int64_t g = 0; g < groups; ++g)
    parts.push_back(b.conv(b.slice(x, 1, g * in, (g + 1) * in),
                           b.slice(w, 0, g * out, (g + 1) * out), strides, 1));
  return b.concat(parts, 1);
}

/// A convolution of few axes is one of more, of which the others have size 1. In float64 it needs three: with two
/// the library calls a routine of MKL that divides by zero.
Val convolve(const Call& c, const Val& x, const Val& w, Dims strides, int64_t groups) {
  Build& b = c.b;
  Dims xd = x.dims, wd = w.dims;
  while (strides.size() < (x.type == DataType::kFloat ? 2 : 3)) {
    xd.insert(xd.begin() + 2, 1);
    wd.insert(wd.begin() + 2, 1);
    strides.insert(strides.begin(), 1);
  }
  const Val y = grouped(b, b.reshape(x, xd), b.reshape(w, wd), strides, groups);
  c.to.work = std::max(c.to.work,
                       static_cast<double>(count(y.dims)) * static_cast<double>(count(wd) / wd[0]));
  Dims out{y.dims[0], y.dims[1]};
  for (size_t i = y.rank() - (x.rank() - 2); i < y.rank(); ++i) out.push_back(y.dims[i]);
  return b.reshape(y, out);
}

Val conv(const Call& c) {
  Build& b = c.b;
  const Geometry g(c.attrs);
  const Val x = pad_or_cut(b, channels_to_front(b, c.in(0), g.channels_first), g.low, g.high);
  // (spatial.., c, out) to (out, c, spatial..)
  Dims perm{static_cast<int64_t>(g.spatial) + 1, static_cast<int64_t>(g.spatial)};
  for (int64_t i : range(0, g.spatial)) perm.push_back(i);
  const Val w = spread(b, b.transpose(c.in(1), perm), g.dilation);
  const Val y = convolve(c, x, w, g.strides, g.groups);
  return channels_to_back(b, y, g.channels_first);
}

Val conv_input_grad(const Call& c) {
  Build& b = c.b;
  const Geometry g(c.attrs);
  const Val dy = spread(b, channels_to_front(b, c.in(0), g.channels_first), g.strides);
  const Val& kernel = c.in(1);  // (spatial.., c / groups, out)
  const int64_t in = kernel.dims[g.spatial], out = kernel.dims[g.spatial + 1];
  // (spatial.., c / g, g, out / g) to (g, c / g, out / g, spatial..)
  Dims split = kernel.dims, perm;
  split.back() = g.groups;
  split.push_back(out / g.groups);
  const auto s = static_cast<int64_t>(g.spatial);
  perm = {s + 1, s, s + 2};
  for (int64_t i : range(0, g.spatial)) perm.push_back(i);
  Val w = b.transpose(b.reshape(kernel, split), perm);
  Dims wd{in * g.groups, out / g.groups};
  wd.insert(wd.end(), kernel.dims.begin(), kernel.dims.begin() + s);
  w = spread(b, b.reshape(w, wd), g.dilation);
  Dims x_dims = c.out_dims(), low, high;
  for (size_t i = 0; i < g.spatial; ++i) {
    w = b.reverse(w, 2 + i);
    const int64_t x_size = x_dims[(g.channels_first ? 2 : 1) + i], reach = w.dims[2 + i] - 1;
    low.push_back(reach - g.low[i]);
    high.push_back(x_size + reach - dy.dims[2 + i] - low.back());
  }
  const Val dx = convolve(c, pad_or_cut(b, dy, low, high), w, Dims(g.spatial, 1), g.groups);
  return channels_to_back(b, dx, g.channels_first);
}

Val conv_filter_grad(const Call& c) {
  Build& b = c.b;
  const Geometry g(c.attrs);
  const Val x = channels_to_front(b, c.in(0), g.channels_first);
  const Val dy = spread(b, channels_to_front(b, c.in(1), g.channels_first), g.strides);
  const Dims kernel = c.out_dims();  // (spatial.., c / groups, out)
  const int64_t n = x.dims[0], in = x.dims[1] / g.groups;
  // x padded or cut so that a window as large as dy has as many places as the kernel has taps.
  Dims high;
  for (size_t i = 0; i < g.spatial; ++i)
    high.push_back((kernel[i] - 1) * g.dilation[i] + dy.dims[2 + i] - x.dims[2 + i] - g.low[i]);
  Val wide = pad_or_cut(b, x, g.low, high);
  // (n, g, c / g, spatial..) to (c / g, g, n, spatial..)
  Dims split{n, g.groups, in}, perm{2, 1, 0}, merged{in, g.groups * n};
  for (size_t i = 0; i < g.spatial; ++i) {
    split.push_back(wide.dims[2 + i]);
    merged.push_back(wide.dims[2 + i]);
    perm.push_back(static_cast<int64_t>(3 + i));
  }
  wide = b.reshape(b.transpose(b.reshape(wide, split), perm), merged);
  Dims swap{1, 0};
  for (int64_t i : range(2, dy.rank())) swap.push_back(i);
  const Val w = convolve(c, wide, b.transpose(dy, swap), g.dilation, g.groups);
  // (c / g, out, spatial..) to (spatial.., c / g, out)
  Dims back = range(2, w.rank());
  back.push_back(0);
  back.push_back(1);
  return b.transpose(w, back);
}

Val pool(const Call& c) {
  Build& b = c.b;
  const Attrs& a = c.attrs;
  const bool first = a.number("channels_first");
  Dims window = a.ints("window"), strides = a.ints("strides"), low = a.ints("pad_low"),
       high = a.ints("pad_high");
  const Val x = channels_to_front(b, c.in(0), first);
  Dims out{x.dims[0], x.dims[1]};
  for (size_t i = 0; i < window.size(); ++i)
    out.push_back((x.dims[2 + i] + low[i] + high[i] - window[i]) / strides[i] + 1);
  Dims xd = x.dims, yd = out;
  if (window.size() == 1)
    for (Dims* d : {&window, &strides}) d->insert(d->begin(), 1);
  if (low.size() < window.size()) {
    for (Dims* d : {&low, &high}) d->insert(d->begin(), 0);
    for (Dims* d : {&xd, &yd}) d->insert(d->begin() + 2, 1);
  }
  Val y = b.pool(a.text("mode") == "max", b.reshape(x, xd), window, strides, low, high, yd);
  y = channels_to_back(b, b.reshape(y, out), first);
  y.low = c.in(0).low;
  return y;
}

}  // namespace

void add_convolutions(Table& t) {
  t["conv"] = {conv, {}, {}};
  t["conv_input_grad"] = {conv_input_grad, {}, {}};
  t["conv_filter_grad"] = {conv_filter_grad, {}, {}};
  t["pool"] = {pool, {}, {}};
}

}  // namespace horngate::cntk
