// Local rules of the Rewriter: a node that does nothing becomes its operand; views of views, slices of
// concats and sums of paddings become simpler nodes.
#include <algorithm>

#include "passes/rewriter.h"
#include "passes/slices.h"

namespace horngate {
namespace {

bool is_whole_slice(const attrs::slice& a, const Shape& in, const Shape& out) {
  for (int64_t s : a.steps)
    if (s != 1) return false;
  return in == out && in.is_static();
}

}  // namespace

/// The scalar that v repeats, or kNoValue.
ValueId Rewriter::repeated_scalar(ValueId v) const {
  const GraphNode* n = maker(v);
  if (!n || n->prim != Prim::broadcast || n->in.size() != 1) return kNoValue;
  return graph.values[n->in[0]].shape.ndim() == 0 ? n->in[0] : kNoValue;
}

/// The sum of two zero paddings that lie side by side is the padding of one concat.
ValueId Rewriter::add_paddings(const GraphNode& n) {
  const GraphNode *a = maker(n.in[0]), *b = maker(n.in[1]);
  if (!a || !b || a->prim != Prim::pad || b->prim != Prim::pad) return kNoValue;
  const attrs::pad p = a->as<attrs::pad>(), q = b->as<attrs::pad>();
  const ValueId x = a->in[0], y = b->in[0];
  const TensorType out = graph.values[n.in[0]];
  if (!(out == graph.values[n.in[1]]) || !out.shape.is_static() || p.value != 0 || q.value != 0)
    return kNoValue;
  size_t axis = 0, differ = 0;
  for (size_t i = 0; i < p.low.size(); ++i)
    if (p.low[i] != q.low[i] || p.high[i] != q.high[i]) {
      axis = i;
      ++differ;
    }
  if (differ != 1) return kNoValue;
  const int64_t size = out.shape.dim(axis);
  const bool x_first = size - p.high[axis] == q.low[axis];
  if (!x_first && size - q.high[axis] != p.low[axis]) return kNoValue;
  const auto at = static_cast<int64_t>(axis);
  const ValueId both =
      x_first ? emit(attrs::concat{.axis = at}, {x, y}) : emit(attrs::concat{.axis = at}, {y, x});
  attrs::pad margins = x_first ? p : q;
  margins.high[axis] = (x_first ? q : p).high[axis];
  return emit(std::move(margins), {both});
}

/// Concats of concats are flat; a concat of neighbouring slices is a slice.
ValueId Rewriter::simplify_concat(GraphNode& n, const TensorType& out) {
  const int64_t axis = n.as<attrs::concat>().axis;
  if (n.in.size() == 1) return n.in[0];
  if (!out.shape.is_static()) return kNoValue;
  SmallVec<ValueId, 4> parts;
  for (ValueId v : n.in) {
    const GraphNode* from = maker(v);
    if (from && from->prim == Prim::concat && from->as<attrs::concat>().axis == axis)
      for (ValueId part : from->in) parts.push_back(part);
    else
      parts.push_back(v);
  }
  n.in = parts;
  ValueId source = kNoValue;
  AxisRange all;
  for (ValueId v : parts) {
    const GraphNode* from = maker(v);
    const auto r = from && !from->in.empty() ? axis_range(*from, graph.values[from->in[0]].shape)
                                             : std::nullopt;
    if (!r || static_cast<int64_t>(r->axis) != axis) return kNoValue;
    if (source != kNoValue && (from->in[0] != source || r->start != all.stop)) return kNoValue;
    if (source == kNoValue) all = *r;
    source = from->in[0];
    all.stop = r->stop;
  }
  if (graph.values[source] == out) return source;
  return emit(slice_along(out.shape.ndim(), all), {source});
}

/// A slice that lies within one part of a concat.
ValueId Rewriter::slice_of_concat(const GraphNode& n, const TensorType& out) {
  const GraphNode* from = maker(n.in[0]);
  if (!from || from->prim != Prim::concat || !out.shape.is_static()) return kNoValue;
  const auto r = axis_range(n, graph.values[n.in[0]].shape);
  if (!r || static_cast<int64_t>(r->axis) != from->as<attrs::concat>().axis) return kNoValue;
  // Keep where the parts end: the gradient of a concat slices each of them.
  const ValueId whole = n.in[0];
  if (ends_of_ != whole) {
    ends_of_ = whole;
    ends_.clear();
    for (ValueId part : from->in) {
      const Shape& shape = graph.values[part].shape;
      // Whether parts with open sizes fit together is checked by the concat at run time, so it stays.
      if (!shape.is_static()) {
        ends_.clear();
        break;
      }
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + shape.dim(r->axis));
    }
  }
  // The first part that reaches the end of the slice. Empty ones before it hold nothing.
  const auto at = std::lower_bound(ends_.begin(), ends_.end(), r->stop);
  if (at == ends_.end()) return kNoValue;
  const int64_t begin = at == ends_.begin() ? 0 : *std::prev(at);
  if (r->start < begin) return kNoValue;
  const ValueId part = from->in[static_cast<size_t>(at - ends_.begin())];
  if (r->stop - r->start == *at - begin) return part;
  return emit(slice_along(out.shape.ndim(), {r->axis, r->start - begin, r->stop - begin}), {part});
}

ValueId Rewriter::simplify(GraphNode& n, const Types& types) {
  const TensorType& out = types[0];
  const auto is = [&](size_t i, double wanted) {
    double v = 0;
    return scalar_constant(n.in[i], &v) && v == wanted;
  };
  // An operand that already has the result's type may replace it, unless a size is open: then the node stays and checks
  // the sizes at run time.
  const auto fits = [&](size_t i) {
    return graph.values[n.in[i]] == out && std::all_of(n.in.begin(), n.in.end(), [&](ValueId v) {
             return graph.values[v].shape.is_static();
           });
  };
  const auto fits_scalar = [&](size_t i, size_t other) {
    return fits(i) || (graph.values[n.in[other]].shape.ndim() == 0 && graph.values[n.in[i]] == out);
  };
  // Moving the elements of a repeated scalar around gives the same scalar, repeated.
  const auto repeats = [&]() -> ValueId {
    const ValueId scalar = out.shape.is_static() ? repeated_scalar(n.in[0]) : kNoValue;
    return scalar == kNoValue ? kNoValue
                              : emit(attrs::broadcast{.shape = out.shape.dims()}, {scalar});
  };
  switch (n.prim) {
    case Prim::stop_gradient: return n.in[0];
    case Prim::cast: return graph.values[n.in[0]].dtype == out.dtype ? n.in[0] : kNoValue;
    case Prim::reshape:
    case Prim::expand_dims:
    case Prim::squeeze: {
      if (n.in.size() > 1) return kNoValue;  // a shape that only the call knows
      if (fits(0)) return n.in[0];
      if (const ValueId v = repeats(); v != kNoValue) return v;
      // A static view of a view becomes a view of the original. If sizes of that are open the first view checks them.
      const GraphNode* from = maker(n.in[0]);
      if (from && from->in.size() == 1 && graph.values[from->in[0]].shape.is_static() &&
          (from->prim == Prim::reshape || from->prim == Prim::expand_dims ||
           from->prim == Prim::squeeze)) {
        const ValueId source = from->in[0];
        if (graph.values[source] == out) return source;
        n = GraphNode{Prim::reshape,
                      {source},
                      {},
                      AttrRef(new AttrsOf<attrs::reshape>({.shape = out.shape.dims()})),
                      {},
                      n.name};
      }
      return kNoValue;
    }
    case Prim::broadcast:
      if (n.in.size() > 1) return kNoValue;
      return fits(0) ? n.in[0] : repeats();
    case Prim::sum_to: return n.in.size() == 1 && fits(0) ? n.in[0] : kNoValue;
    case Prim::reduce_sum: return is(0, 0) ? repeats() : kNoValue;
    case Prim::pad: {
      const auto& a = n.as<attrs::pad>();
      for (size_t i = 0; i < a.low.size(); ++i)
        if (a.low[i] != 0 || a.high[i] != 0) return kNoValue;
      return n.in[0];
    }
    case Prim::concat: return simplify_concat(n, out);
    case Prim::slice:
      if (is_whole_slice(n.as<attrs::slice>(), graph.values[n.in[0]].shape, out.shape))
        return n.in[0];
      return n.in.size() == 1 ? slice_of_concat(n, out) : kNoValue;
    case Prim::transpose: {
      const GraphNode* from = maker(n.in[0]);
      Ints perm = n.as<attrs::transpose>().perm;
      ValueId source = n.in[0];
      if (from && from->prim == Prim::transpose) {
        const Ints& inner = from->as<attrs::transpose>().perm;
        for (int64_t& p : perm) p = inner[static_cast<size_t>(p)];
        source = from->in[0];
      }
      bool identity = true;
      for (size_t i = 0; i < perm.size(); ++i) identity &= perm[i] == static_cast<int64_t>(i);
      if (identity) return source;
      n.in[0] = source;
      n.attrs = AttrRef(new AttrsOf<attrs::transpose>({.perm = perm}));
      return kNoValue;
    }
    case Prim::neg: {
      const GraphNode* from = maker(n.in[0]);
      return from && from->prim == Prim::neg ? from->in[0] : kNoValue;
    }
    case Prim::add:
      if (fits_scalar(0, 1) && is(1, 0)) return n.in[0];
      if (fits_scalar(1, 0) && is(0, 0)) return n.in[1];
      return add_paddings(n);
    case Prim::sub: return fits_scalar(0, 1) && is(1, 0) ? n.in[0] : kNoValue;
    case Prim::mul:
      if (fits_scalar(0, 1) && is(1, 1)) return n.in[0];
      if (fits_scalar(1, 0) && is(0, 1)) return n.in[1];
      return kNoValue;
    case Prim::div: return fits_scalar(0, 1) && is(1, 1) ? n.in[0] : kNoValue;
    case Prim::select: {
      double c = 0;
      if (!scalar_constant(n.in[0], &c)) return kNoValue;
      const size_t chosen = c != 0 ? 1 : 2;
      return fits(chosen) ? n.in[chosen] : kNoValue;
    }
    default: return kNoValue;
  }
}

}  // namespace horngate
