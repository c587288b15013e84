// Pooling over windows, and its gradient.
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

Val pool(const Call& c) {
  Build& b = c.b;
  Pool p(c.attrs);
  const Val x = channels_to_front(b, c.in(0), p.channels_first);
  Dims out{x.dims[0], x.dims[1]};
  for (size_t i = 0; i < p.window.size(); ++i)
    out.push_back((x.dims[2 + i] + p.by.low[i] + p.by.high[i] - p.window[i]) / p.by.strides[i] + 1);
  Dims xd = x.dims, yd = out;
  if (p.window.size() == 1) {  // the library wants two axes
    for (Dims* d : {&p.window, &p.by.strides}) d->insert(d->begin(), 1);
    for (Dims* d : {&p.by.low, &p.by.high}) d->insert(d->begin(), 0);
    for (Dims* d : {&xd, &yd}) d->insert(d->begin() + 2, 1);
  }
  const Val y = b.reshape(b.pool(p.is_max, b.reshape(x, xd), p.window, p.by, yd), out);
  Val moved = channels_to_back(b, y, p.channels_first);
  moved.low = c.in(0).low;
  return moved;
}

}  // namespace

void add_pools(Table& t) { t["pool"] = {pool, {}, {}}; }

}  // namespace horngate::cntk
