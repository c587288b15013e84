// Pooling over windows, and its gradient.
#include <algorithm>
#include <limits>

#include "cntk/lower.h"

namespace horngate::cntk {
namespace {

struct Pool {
  bool is_max, channels_first;
  Dims window;
  Window by;
  explicit Pool(const Attrs& a)
      : is_max(a.text("mode") == "max"),
        channels_first(a.number("channels_first")),
        window(a.ints("window")),
        by{a.ints("strides"), a.ints("pad_low"), a.ints("pad_high")} {}
};

/// How many elements of x lie in each window, by position.
std::vector<double> window_sizes(const Pool& p, const Dims& room, const Dims& places) {
  std::vector<double> sizes{1};
  for (size_t i = 0; i < room.size(); ++i) {
    std::vector<double> longer;
    for (const double before : sizes)
      for (int64_t k = 0; k < places[i]; ++k) {
        const int64_t from = k * p.by.strides[i] - p.by.low[i], to = from + p.window[i];
        const int64_t inside = std::min(to, room[i]) - std::max<int64_t>(from, 0);
        longer.push_back(before * static_cast<double>(inside));
      }
    sizes = std::move(longer);
  }
  return sizes;
}

/// The library reads beyond x if a window exceeds the axis by 2 or more. Then the padding is put around x here.
bool pads_well(const Pool& p, const Dims& room) {
  for (size_t i = 0; i < room.size(); ++i)
    if ((p.by.low[i] || p.by.high[i]) && p.window[i] > room[i]) return false;
  return true;
}

/// x (n, c, room..) with its padding. Means are then over whole windows, zeros included; `share` makes up for that.
Val padded(const LowerCall& c, Pool& p, const Val& x, const Dims& out, Val& share) {
  Build& b = c.b;
  const Dims room(x.dims.begin() + 2, x.dims.end()), places(out.begin() + 2, out.end());
  if (!p.is_max) {
    std::vector<double> shares = window_sizes(p, room, places);
    for (double& v : shares) v = static_cast<double>(count(p.window)) / v;
    share = b.constant(x.type, places, shares);
  }
  Dims low{0, 0}, high{0, 0};
  low.insert(low.end(), p.by.low.begin(), p.by.low.end());
  high.insert(high.end(), p.by.high.begin(), p.by.high.end());
  p.by.low.assign(room.size(), 0);
  p.by.high.assign(room.size(), 0);
  return b.pad(x, low, high, p.is_max ? -std::numeric_limits<double>::infinity() : 0);
}

Val pool(const LowerCall& c) {
  Build& b = c.b;
  Pool p(c.attrs);
  Val x = channels_to_front(b, c.in(0), p.channels_first), share;
  Dims out{x.dims[0], x.dims[1]};
  for (size_t i = 0; i < p.window.size(); ++i)
    out.push_back((x.dims[2 + i] + p.by.low[i] + p.by.high[i] - p.window[i]) / p.by.strides[i] + 1);
  if (!pads_well(p, Dims(x.dims.begin() + 2, x.dims.end()))) x = padded(c, p, x, out, share);
  Dims xd = x.dims, yd = out;
  if (p.window.size() == 1) {  // the library wants two axes
    for (Dims* d : {&p.window, &p.by.strides}) d->insert(d->begin(), 1);
    for (Dims* d : {&p.by.low, &p.by.high}) d->insert(d->begin(), 0);
    for (Dims* d : {&xd, &yd}) d->insert(d->begin() + 2, 1);
  }
  Val y = b.reshape(b.pool(p.is_max, b.reshape(x, xd), p.window, p.by, yd), out);
  if (share.rank()) y = b.mul(y, share);
  Val moved = channels_to_back(b, y, p.channels_first);
  moved.low = c.in(0).low;
  return moved;
}

/// Whether the windows adjoin each other and nothing is padded.
bool is_tiled(const Pool& p) {
  for (size_t i = 0; i < p.window.size(); ++i)
    if (p.by.strides[i] != p.window[i] || p.by.low[i] != 0 || p.by.high[i] > 0) return false;
  return true;
}

Val max_grad(const LowerCall& c) {
  Build& b = c.b;
  const Pool p(c.attrs);
  const size_t first = p.channels_first ? 2 : 1;
  const Dims whole = c.in(0).dims, windows = c.in(2).dims;
  // What no window reaches is cut away and is 0 in the result.
  Dims covered = whole, rest(whole.size(), 0);
  for (size_t i = 0; i < p.window.size(); ++i) {
    covered[first + i] = windows[first + i] * p.window[i];
    rest[first + i] = whole[first + i] - covered[first + i];
  }
  const Dims zeros(whole.size(), 0), ones(whole.size(), 1);
  const Val x = channels_to_front(b, b.slices(c.in(0), zeros, covered, ones), p.channels_first);
  const Val dy = channels_to_front(b, c.in(2), p.channels_first);
  Dims xd = x.dims, yd = dy.dims, window = p.window;
  if (window.size() == 1) {
    window.insert(window.begin(), 1);
    for (Dims* d : {&xd, &yd}) d->insert(d->begin() + 2, 1);
  }
  const Val dx = b.reshape(b.unpool(b.reshape(dy, yd), b.reshape(x, xd), window), x.dims);
  return b.pad(channels_to_back(b, dx, p.channels_first), zeros, rest, 0);
}

// dx = the sum, over the windows that an element is in, of dy / (elements of the window)
Val mean_grad(const LowerCall& c) {
  Build& b = c.b;
  const Pool p(c.attrs);
  const Val dy = channels_to_front(b, c.in(2), p.channels_first);
  const Dims x_dims = c.in(0).dims;
  const auto at = x_dims.begin() + (p.channels_first ? 2 : 1);
  const Dims room(at, at + static_cast<int64_t>(p.window.size()));
  const Dims places(dy.dims.begin() + 2, dy.dims.end());
  const Val sizes = b.constant(dy.type, places, window_sizes(p, room, places));
  Dims flat{dy.dims[0] * dy.dims[1]}, out{dy.dims[0], dy.dims[1]};
  flat.insert(flat.end(), places.begin(), places.end());
  out.insert(out.end(), room.begin(), room.end());
  const Val share = b.reshape(divide(b, dy, sizes), flat);
  const Val dx = b.reshape(sum_of_windows(c, share, room, p.window, p.by), out);
  return channels_to_back(b, dx, p.channels_first);
}

Val pool_grad(const LowerCall& c) { return Pool(c.attrs).is_max ? max_grad(c) : mean_grad(c); }

/// Maxima of overlapping windows are left to the host's decomposition; windows of padding alone have no mean.
bool has_grad(const hg_graph& g, const hg_node& n) {
  const Pool p{Attrs(n)};
  if (p.is_max) return is_tiled(p);
  const Dims x = dims_of(*g.value[n.in[0]]), dy = dims_of(*g.value[n.in[2]]);
  const size_t first = p.channels_first ? 2 : 1;
  for (size_t i = 0; i < p.window.size(); ++i)
    if (p.by.low[i] >= p.window[i] ||
        (dy[first + i] - 1) * p.by.strides[i] - p.by.low[i] >= x[first + i])
      return false;
  return true;
}

}  // namespace

void add_pools(Table& t) {
  t["pool"] = {pool, {}, {}};
  t["pool_grad"] = {pool_grad, has_grad, {}};
}

}  // namespace horngate::cntk
