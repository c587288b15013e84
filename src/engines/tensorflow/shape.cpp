// Primitives that move elements, and constants.
#include <algorithm>

#include "lower.h"

namespace horngate::tf {
namespace {

/// reshape, expand_dims and squeeze: the elements stay in place.
void reshape(LowerCall& c) {
  const Dims dims = c.node.out_dims(0);
  c.give(c.in.size() == 2 ? c.graph.reshape(c.in[0], c.in[1], dims)
                          : c.graph.reshape(c.in[0], dims));
}

void same(LowerCall& c) { c.give(c.in[0]); }

void broadcast(LowerCall& c) {
  const Dims dims = c.node.out_dims(0);
  c.give(c.in.size() == 2 ? c.graph.broadcast(c.in[0], c.in[1], dims)
                          : c.graph.broadcast(c.in[0], dims));
}

void transpose(LowerCall& c) { c.give(c.graph.transpose(c.in[0], c.node.ints("perm"))); }

void concat(LowerCall& c) {
  // Empty parts contribute nothing, and a single part needs no joining.
  const int64_t axis = c.node.number("axis");
  Values parts;
  for (const Value& v : c.in)
    if (count(v.dims) != 0) parts.push_back(v);
  c.give(c.graph.concat(parts, axis));
}

void slice(LowerCall& c) {
  const Value& x = c.in[0];
  const Dims stated = c.node.ints("starts"), steps = c.node.ints("steps", x.rank(), 1);
  Dims starts;
  for (size_t i = 0; i < x.rank(); ++i) {
    const int64_t n = x.dims[i];
    if (n < 0) {  // counted from the start
      starts.push_back(stated[i]);
      continue;
    }
    int64_t at = stated[i] < 0 ? stated[i] + n : stated[i];
    at = steps[i] > 0 ? std::clamp<int64_t>(at, 0, n) : std::clamp<int64_t>(at, -1, n - 1);
    starts.push_back(at);
  }
  c.give(c.graph.slice(x, starts, c.node.out_dims(0), steps));
}

void pad(LowerCall& c) {
  c.give(c.graph.pad(c.in[0], c.node.ints("low"), c.node.ints("high"),
                     c.graph.scalar(c.in[0].type, c.node.real("value"))));
}

void reverse(LowerCall& c) {
  const Value& x = c.in[0];
  const Type t = kernel_type("ReverseV2", x.type);
  c.give(c.graph.cast(c.graph.op("ReverseV2")
                          .in(c.graph.cast(x, t))
                          .in(c.graph.ints(c.node.ints("axes")))
                          .type("T", t)
                          .type("Tidx", kInt32)
                          .value(t, x.dims),
                      x.type));
}

void gather(LowerCall& c) {
  const int64_t axis = c.node.number("axis");
  const Value &x = c.in[0], &indices = c.in[1];
  c.give(c.graph.op_at("GatherV2", {"gather", axis, c.node.name()})
             .in(x)
             .in(indices)
             .in(c.graph.integer(axis))
             .type("Tparams", x.type)
             .type("Tindices", indices.type)
             .type("Taxis", kInt32)
             .value(x.type, c.node.out_dims(0)));
}

/// Segment sums want the axes of the indices first; others are moved there and back.
void scatter_add(LowerCall& c) {
  Graph& g = c.graph;
  const Value &indices = c.in[0], &updates = c.in[1];
  const Dims dims = c.node.out_dims(0);
  const auto axis = static_cast<size_t>(c.node.number("axis"));
  const size_t n = indices.rank();
  if (count(updates.dims) == 0) {
    c.give(g.zeros(updates.type, dims));
    return;
  }
  Dims perm, back;
  for (size_t i = 0; i < n; ++i) perm.push_back(static_cast<int64_t>(axis + i));
  for (size_t i = 0; i < updates.rank(); ++i)
    if (i < axis || i >= axis + n) perm.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < dims.size(); ++i)
    back.push_back(static_cast<int64_t>(i < axis ? i + 1 : i == axis ? 0 : i));
  const Type t = kernel_type("UnsortedSegmentSum", wide_type(updates.type));
  Dims sums{dims[axis]};
  for (size_t i = 0; i < dims.size(); ++i)
    if (i != axis) sums.push_back(dims[i]);
  const Value sum =
      g.op_at("UnsortedSegmentSum", {"scatter_add", static_cast<int64_t>(axis), c.node.name()})
          .in(g.cast(g.transpose(updates, perm), t))
          .in(indices)
          .in(g.integer(dims[axis], kInt64))
          .type("T", t)
          .type("Tindices", indices.type)
          .type("Tnumsegments", kInt64)
          .value(t, sums);
  c.give(g.transpose(g.cast(sum, updates.type), back));
}

void iota(LowerCall& c) {
  Graph& g = c.graph;
  const Dims dims = c.node.out_dims(0);
  const Value n = c.in.empty() ? g.integer(dims[0], kInt64) : g.reshape(c.in[0], Dims{});
  const Value all = g.op("Range")
                        .in(g.integer(0, kInt64))
                        .in(n)
                        .in(g.integer(1, kInt64))
                        .type("Tidx", kInt64)
                        .value(kInt64, dims);
  c.give(g.cast(all, c.out_type()));
}

void constant(LowerCall& c) {
  const hg_buffer* b = c.node.buffer("value");
  c.give(c.graph.constant(type_of(b->type->dtype), Node::dims_of(*b->type), b->data));
}

}  // namespace

Lowerings shape_lowerings() {
  static constexpr Lowering kTable[] = {
      {"reshape", reshape},    {"expand_dims", reshape}, {"squeeze", reshape},
      {"stop_gradient", same}, {"broadcast", broadcast}, {"transpose", transpose},
      {"concat", concat},      {"slice", slice},         {"pad", pad},
      {"reverse", reverse},    {"gather", gather},       {"scatter_add", scatter_add},
      {"iota", iota},          {"constant", constant}};
  return kTable;
}

}  // namespace horngate::tf
