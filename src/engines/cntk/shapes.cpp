// Primitives that move elements.
#include <algorithm>

#include "cntk/lower.h"

namespace horngate::cntk {
namespace {

/// The same elements elsewhere: what is known about their values stays.
Val moved(Val y, const Val& x) {
  y.low = x.low;
  y.never_zero = x.never_zero;
  y.is_constant = x.is_constant;
  return y;
}

Val reshape(const LowerCall& c) { return moved(c.b.reshape(c.in(0), c.out_dims()), c.in(0)); }
Val broadcast(const LowerCall& c) { return moved(c.b.broadcast(c.in(0), c.out_dims()), c.in(0)); }
Val transpose(const LowerCall& c) {
  return moved(c.b.transpose(c.in(0), c.attrs.ints("perm")), c.in(0));
}

Val concat(const LowerCall& c) {
  std::vector<Val> parts;
  for (uint32_t i = 0; i < c.node.n_in; ++i) parts.push_back(c.b.cast(c.in(i), c.in(0).type));
  Val y = c.b.concat(parts, static_cast<size_t>(c.attrs.number("axis")));
  for (const Val& p : parts) y.low = &p == parts.data() ? p.low : std::min(y.low, p.low);
  return y;
}

// A negative step is a positive one from the other end, then reversed.
Val slice(const LowerCall& c) {
  const Dims starts = c.attrs.ints("starts"), steps = c.attrs.ints("steps"), out = c.out_dims();
  Val y = c.in(0);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t n = c.in(0).dims[i];
    const int64_t first = std::clamp<int64_t>(starts[i] < 0 ? starts[i] + n : starts[i], 0, n - 1);
    const int64_t last = first + (out[i] - 1) * steps[i];
    if (steps[i] > 0) {
      y = c.b.slice(y, i, first, last + 1, steps[i]);
    } else {
      y = c.b.reverse(c.b.slice(y, i, last, first + 1, -steps[i]), i);
    }
  }
  return moved(y, c.in(0));
}

Val pad(const LowerCall& c) {
  const double value = c.attrs.real("value");
  Val y = c.b.pad(c.in(0), c.attrs.ints("low"), c.attrs.ints("high"), value);
  y.low = std::min(c.in(0).low, value);
  return y;
}

Val reverse(const LowerCall& c) {
  Val y = c.in(0);
  for (int64_t a : c.attrs.ints("axes")) y = c.b.reverse(y, static_cast<size_t>(a));
  return moved(y, c.in(0));
}

Val iota(const LowerCall& c) {
  const Dims dims = c.out_dims();
  std::vector<double> all(static_cast<size_t>(count(dims)));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(i);
  return c.b.constant(carrier(c.out_dtype()), dims, all);
}

/// Whether the library's copying loop sees few axes, after merging neighbours that stay together.
bool transposes_few(const hg_graph& g, const hg_node& n) {
  const Dims dims = dims_of(*g.value[n.in[0]]), perm = Attrs(n).ints("perm");
  size_t groups = 0;
  int64_t next = -1;
  for (int64_t p : perm) {
    if (dims[static_cast<size_t>(p)] == 1) continue;
    groups += p != next;
    next = p + 1;
    while (next < static_cast<int64_t>(dims.size()) && dims[static_cast<size_t>(next)] == 1) ++next;
  }
  return groups <= kMostAxes;
}

bool broadcasts_few(const hg_graph& g, const hg_node& n) {
  return merge_axes(dims_of(*g.value[n.out[0]]),
                    {dims_of(*g.value[n.in[0]]), dims_of(*g.value[n.out[0]])})[0]
             .size() <= kMostAxes;
}

bool one_operand(const hg_graph&, const hg_node& n) { return n.n_in == 1; }

}  // namespace

void add_shapes(Table& t) {
  t["reshape"] = {reshape, one_operand, {}};
  t["expand_dims"] = {reshape, {}, {}};
  t["squeeze"] = {reshape, {}, {}};
  t["broadcast"] = {broadcast, broadcasts_few, {}};
  t["transpose"] = {transpose, transposes_few, {}};
  t["concat"] = {concat, {}, {}};
  t["slice"] = {slice, one_operand, {}};
  t["pad"] = {pad, {}, {}};
  t["reverse"] = {reverse, {}, {}};
  t["iota"] = {iota, {}, {}};
}

}  // namespace horngate::cntk
