// Primitives that follow integer positions. With a wrong one the library would read beyond its memory, so indices
// are clamped inside the graph and checked: before the run if they are fed, after it if they are computed.
#include "cntk/convert.h"

namespace horngate::cntk {
namespace {

/// The index operand in the carrier of `type`, guaranteed to be in [0, size).
Val checked_indices(const LowerCall& c, uint32_t operand, int64_t axis, int64_t size,
                    DataType type) {
  Build& b = c.b;
  const uint32_t number = c.node.in[operand];
  const Val raw = c.in(operand);
  IndexCheck check{
      c.node.prim, c.node.name ? c.node.name : "", axis, size, c.to.input_of[number], 0, 0};
  if (const hg_buffer* known = c.to.constant(number)) {
    check_indices(*known, check);
    return b.cast(raw, type);
  }
  if (check.input == IndexCheck::kComputed) {
    Dims all;
    for (size_t i = 0; i < raw.rank(); ++i) all.push_back(static_cast<int64_t>(i));
    check.least = c.to.hidden.size();
    c.to.hidden.push_back(b.reshape(b.reduce(L"Min", raw, all), {1}));
    check.greatest = c.to.hidden.size();
    c.to.hidden.push_back(b.reshape(b.reduce(L"Max", raw, all), {1}));
  }
  c.to.checks.push_back(check);
  if (check.input != IndexCheck::kComputed) return b.cast(raw, type);
  const Val held = b.bin(Bin::kMax, b.bin(Bin::kMin, raw, static_cast<double>(size - 1)), 0);
  return b.cast(held, type);
}

Val gather(const LowerCall& c) {
  Build& b = c.b;
  const Val& x = c.in(0);
  const int64_t axis = c.attrs.number("axis");
  const auto at = x.dims.begin() + axis;
  const int64_t before = count(Dims(x.dims.begin(), at)), after = count(Dims(at + 1, x.dims.end()));
  Val indices = checked_indices(c, 1, axis, *at, x.type);
  const int64_t n = count(indices.dims);
  indices = b.reshape(indices, {n});
  // Move the axis to the front and, afterwards, back.
  Val rows = b.reshape(x, {before, *at, after});
  if (before != 1) rows = b.transpose(rows, {1, 0, 2});
  Val y = b.gather(indices, b.reshape(rows, {*at, before * after}));
  y = b.reshape(y, {n, before, after});
  if (before != 1) y = b.transpose(y, {1, 0, 2});
  y = b.reshape(y, c.out_dims());
  y.low = x.low;
  return y;
}

bool gathers_exactly(const hg_graph& g, const hg_node& n) {
  const hg_type& x = *g.value[n.in[0]];
  return carrier(x.dtype) == DataType::kDouble || x.dims[Attrs(n).number("axis")] < (1 << 24);
}

// (size, n) by (n, after): a matrix of ones and zeros sums the updates that go to the same place.
Val scatter_add(const LowerCall& c) {
  Build& b = c.b;
  const Dims out = c.out_dims();
  const int64_t axis = c.attrs.number("axis");
  const auto at = out.begin() + axis;
  const int64_t before = count(Dims(out.begin(), at)), after = count(Dims(at + 1, out.end()));
  const Val& updates = c.in(1);
  Val indices = checked_indices(c, 0, axis, *at, updates.type);
  const int64_t n = count(indices.dims);
  const Val places = b.transpose(b.one_hot(b.reshape(indices, {n}), *at), {1, 0});
  Val rows = b.reshape(updates, {before, n, after});
  if (before != 1) rows = b.transpose(rows, {1, 0, 2});
  Val y = b.product(places, b.reshape(rows, {n, before * after}), false);
  y = b.reshape(y, {*at, before, after});
  if (before != 1) y = b.transpose(y, {1, 0, 2});
  return wrapped(b, b.reshape(y, out), c.out_dtype());
}

/// The matrix must stay small; native adds large tables faster.
bool scatters_little(const hg_graph& g, const hg_node& n) {
  const hg_type& out = *g.value[n.out[0]];
  return count(dims_of(*g.value[n.in[0]])) * out.dims[Attrs(n).number("axis")] <= (1 << 20);
}

// Whether fewer than k classes score higher than the target; false for targets that are no class or not finite.
Val in_top_k(const LowerCall& c) {
  Build& b = c.b;
  const Val& x = c.in(0);
  const int64_t n = x.dims[0], classes = x.dims[1];
  const Val target = b.cast(b.reshape(c.in(1), {n, 1}), x.type);
  std::vector<double> all(static_cast<size_t>(classes));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(i);
  const Val here = b.bin(Bin::kEqual, target, b.constant(x.type, {1, classes}, all));
  const Val zero = b.scalar(x.type, 0);
  const Val score = b.reduce(L"Sum", b.select(here, x, zero), {1});
  const Val better = b.reduce(L"Sum", b.bin(Bin::kGreater, x, score), {1});
  const Val finite = b.reduce(L"Min", b.bin(Bin::kEqual, b.bin(Bin::kTimes, x, 0), 0), {1});
  const Val known = b.mul(b.reduce(L"Max", here, {1}), finite);
  const Val in = b.bin(Bin::kLess, better, static_cast<double>(c.attrs.number("k")));
  return b.reshape(b.mul(in, known), c.out_dims());
}

}  // namespace

void add_indices(Table& t) {
  t["gather"] = {gather, gathers_exactly, {}};
  t["scatter_add"] = {scatter_add, scatters_little, {}};
  t["in_top_k"] = {in_top_k, {}, {}};
}

}  // namespace horngate::cntk
