// Stacked forms, primitive by primitive.
#include "passes/stacking.h"

#include <algorithm>

#include "ir/check.h"
#include "prims/rules.h"

namespace horngate {
namespace {

bool contains(const Ints& v, int64_t x) { return std::find(v.begin(), v.end(), x) != v.end(); }

/// An axis of one step, as numbered in the stacked array.
int64_t shifted(int64_t axis, int64_t time) {
  return time != kInvariant && axis >= time ? axis + 1 : axis;
}

Ints shifted(const Ints& axes, int64_t time) {
  Ints r;
  for (int64_t a : axes) r.push_back(shifted(a, time));
  return r;
}

Ints inserted(const Ints& v, int64_t at, int64_t item) {
  Ints r = v;
  r.insert(r.begin() + at, item);
  return r;
}

Ints inserted(const Shape& s, int64_t at, int64_t item) { return inserted(s.dims(), at, item); }

int64_t rank(const TensorType& t) { return static_cast<int64_t>(t.shape.ndim()); }

/// The position in the shape before which the axes hold `count` elements.
std::optional<int64_t> place_after(const Shape& shape, int64_t count) {
  int64_t product = 1;
  for (int64_t i = 0;; ++i) {
    if (product == count) return i;
    if (i == static_cast<int64_t>(shape.ndim())) return std::nullopt;
    product *= shape.dim(static_cast<size_t>(i));
  }
}

/// Element-wise operands are aligned at their last axes.
std::optional<int64_t> common_axis(std::span<const TensorType> in, const TensorType& out,
                                   std::span<const int64_t> axes) {
  std::optional<int64_t> found;
  for (size_t i = 0; i < in.size(); ++i) {
    if (axes[i] == kInvariant) continue;
    const int64_t here = axes[i] + rank(out) - rank(in[i]);
    if (found && *found != here) return std::nullopt;
    found = here;
  }
  return found;
}

/// The time axis of a product is an additional free axis of the operand that has it.
std::optional<int64_t> product_axis(const attrs::dot_general& a, std::span<const TensorType> in,
                                    std::span<const int64_t> axes) {
  if ((axes[0] == kInvariant) == (axes[1] == kInvariant)) return std::nullopt;
  int64_t at = static_cast<int64_t>(a.batch_a.size());
  const auto free_before = [](int64_t end, const Ints& batch, const Ints& contract) {
    int64_t n = 0;
    for (int64_t i = 0; i < end; ++i) n += !contains(batch, i) && !contains(contract, i);
    return n;
  };
  if (axes[0] != kInvariant) return at + free_before(axes[0], a.batch_a, a.contract_a);
  return at + free_before(rank(in[0]), a.batch_a, a.contract_a) +
         free_before(axes[1], a.batch_b, a.contract_b);
}

template <class A>
A with_axes(const A& a, int64_t time) {
  A r = a;
  r.axes = shifted(a.axes, time);
  return r;
}

/// Merges the time axis into the batch, which is axis 0 of one step.
ValueId merge_batch(Rewriter& r, ValueId v, int64_t time) {
  Ints dims = r.type(v).shape.dims();
  check(time == 0 || time == 1, "scan", "the time axis must be beside the batch.");
  dims[0] *= dims[1];
  dims.erase(dims.begin() + 1);
  return r.emit(attrs::reshape{.shape = dims}, {v});
}

bool is_reduction(Prim p) { return primitive(p).how == How::reduction; }

}  // namespace

int64_t elements_before(const Shape& shape, int64_t axis) {
  int64_t product = 1;
  for (int64_t i = 0; i < axis; ++i) product *= shape.dim(static_cast<size_t>(i));
  return product;
}

std::optional<int64_t> stacked_axis(const GraphNode& n, std::span<const TensorType> in,
                                    const TensorType& out, std::span<const int64_t> axes) {
  if (n.out.size() != 1 || !n.bodies.empty() || in.empty()) return std::nullopt;
  const Primitive& p = primitive(n.prim);
  if (p.how == How::elementwise) return common_axis(in, out, axes);
  if (is_reduction(n.prim)) {
    const Ints& reduced = *p.ints(n.attrs.get(), "axes");
    if (rank(out) == rank(in[0])) return axes[0];
    return axes[0] -
           std::count_if(reduced.begin(), reduced.end(), [&](int64_t a) { return a < axes[0]; });
  }
  switch (n.prim) {
    case Prim::dot_general: return product_axis(n.as<attrs::dot_general>(), in, axes);
    case Prim::reshape:
    case Prim::expand_dims:
    case Prim::squeeze: return place_after(out.shape, elements_before(in[0].shape, axes[0]));
    case Prim::slice:
    case Prim::pad:
    case Prim::transpose:
    case Prim::softmax:
    case Prim::log_softmax: return axes[0];
    case Prim::concat:
      for (int64_t a : axes)
        if (a != axes[0]) return std::nullopt;
      return axes[0];
    case Prim::conv:
      if (axes[1] != kInvariant || axes[0] > 1) return std::nullopt;
      return axes[0];
    default: return std::nullopt;
  }
}

ValueId emit_stacked(Rewriter& r, const GraphNode& n, std::span<const TensorType> in,
                     const TensorType& out, std::span<const int64_t> axes,
                     std::span<const ValueId> operands, int64_t length) {
  const int64_t time = axes[0];
  SmallVec<ValueId, 4> ops(operands.begin(), operands.end());
  const Primitive& p = primitive(n.prim);
  if (p.how == How::elementwise) {
    const int64_t at = *common_axis(in, out, axes);
    for (size_t i = 0; i < in.size(); ++i) {
      const int64_t here = at - (rank(out) - rank(in[i]));
      if (axes[i] == kInvariant && here > 0)
        ops[i] = r.emit(attrs::expand_dims{.axes = {here}}, {ops[i]});
    }
    if (n.prim == Prim::broadcast)
      return r.emit(attrs::broadcast{.shape = inserted(out.shape, at, length)}, ops);
    return r.emit(n.prim, ops, n.attrs);
  }
  if (is_reduction(n.prim))
    return r.emit(
        n.prim, ops,
        p.with_ints(n.attrs.get(), "axes", shifted(*p.ints(n.attrs.get(), "axes"), time)));
  switch (n.prim) {
    case Prim::dot_general: {
      attrs::dot_general a = n.as<attrs::dot_general>();
      a.batch_a = shifted(a.batch_a, axes[0]);
      a.contract_a = shifted(a.contract_a, axes[0]);
      a.batch_b = shifted(a.batch_b, axes[1]);
      a.contract_b = shifted(a.contract_b, axes[1]);
      return r.emit(std::move(a), ops);
    }
    case Prim::reshape:
    case Prim::expand_dims:
    case Prim::squeeze: {
      const int64_t at = *place_after(out.shape, elements_before(in[0].shape, time));
      return r.emit(attrs::reshape{.shape = inserted(out.shape, at, length)}, ops);
    }
    case Prim::slice: {
      attrs::slice a = n.as<attrs::slice>();
      a.starts = inserted(a.starts, time, 0);
      a.stops = inserted(a.stops, time, kToEnd);
      if (!a.steps.empty()) a.steps = inserted(a.steps, time, 1);
      return r.emit(std::move(a), ops);
    }
    case Prim::pad: {
      attrs::pad a = n.as<attrs::pad>();
      a.low = inserted(a.low, time, 0);
      a.high = inserted(a.high, time, 0);
      return r.emit(std::move(a), ops);
    }
    case Prim::transpose:
      return r.emit(attrs::transpose{.perm = inserted(shifted(n.as<attrs::transpose>().perm, time),
                                                      time, time)},
                    ops);
    case Prim::softmax:
    case Prim::log_softmax: {
      const auto axis_of = [&](int64_t axis) {
        return shifted(axis < 0 ? axis + rank(in[0]) : axis, time);
      };
      if (n.prim == Prim::softmax)
        return r.emit(attrs::softmax{.axis = axis_of(n.as<attrs::softmax>().axis)}, ops);
      return r.emit(attrs::log_softmax{.axis = axis_of(n.as<attrs::log_softmax>().axis)}, ops);
    }
    case Prim::concat:
      return r.emit(attrs::concat{.axis = shifted(n.as<attrs::concat>().axis, time)}, ops);
    case Prim::conv: {
      ops[0] = merge_batch(r, ops[0], time);
      const ValueId y = r.emit(n.as<attrs::conv>(), ops);
      return r.emit(attrs::reshape{.shape = inserted(out.shape, time, length)}, {y});
    }
    default: invariant(false, p.name, " has no stacked form"); return kNoValue;
  }
}

bool sums_over_time(const GraphNode& n) {
  return n.prim == Prim::dot_general || n.prim == Prim::reduce_sum ||
         n.prim == Prim::conv_filter_grad;
}

ValueId emit_sum_over_time(Rewriter& r, const GraphNode& n, int64_t axis,
                           std::span<const ValueId> operands) {
  SmallVec<ValueId, 4> ops(operands.begin(), operands.end());
  if (n.prim == Prim::reduce_sum) {
    attrs::reduce_sum a = n.as<attrs::reduce_sum>();
    Ints axes = shifted(a.axes, axis);
    axes.push_back(axis);
    std::sort(axes.begin(), axes.end());
    const ValueId sum = r.emit(attrs::reduce_sum{.axes = axes, .keepdims = a.keepdims}, ops);
    if (!a.keepdims) return sum;
    return r.emit(attrs::squeeze{.axes = {axis}}, {sum});
  }
  if (n.prim == Prim::conv_filter_grad) {
    for (ValueId& v : ops) v = merge_batch(r, v, axis);
    return r.emit(n.as<attrs::conv_filter_grad>(), ops);
  }
  // Put the pair of time axes where the contracted axes of a stay in memory order.
  attrs::dot_general a = n.as<attrs::dot_general>();
  a.batch_a = shifted(a.batch_a, axis);
  a.batch_b = shifted(a.batch_b, axis);
  a.contract_a = shifted(a.contract_a, axis);
  a.contract_b = shifted(a.contract_b, axis);
  size_t at = 0;
  while (at < a.contract_a.size() && a.contract_a[at] < axis) ++at;
  a.contract_a.insert(a.contract_a.begin() + static_cast<int64_t>(at), axis);
  a.contract_b.insert(a.contract_b.begin() + static_cast<int64_t>(at), axis);
  return r.emit(std::move(a), ops);
}

}  // namespace horngate
