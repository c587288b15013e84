// Primitives that follow indices, and the largest elements.
#include "lower.h"

namespace horngate::onnx {
namespace {

/// Indices as int64. The runtime counts negative ones from the end; here they are moved so far down that it
/// refuses them, and the engine's message moves them back (see kIndexShift).
Value strict_indices(Op& op, size_t operand) {
  Builder& b = op.b;
  const Value i = b.cast(op.in[operand], HG_INT64);
  if (!op.lowering.is_exact()) return i;
  const Value negative = b.compare("Less", i, b.scalar(HG_INT64, 0));
  return b.where(negative, b.binary("Sub", i, b.scalar(HG_INT64, kIndexShift)), i);
}

void gather(Op& op) {
  const Value &x = op.in[0], i = strict_indices(op, 1);
  const int64_t axis = op.number("axis");
  Dims dims(x.dims.begin(), x.dims.begin() + axis);
  dims.insert(dims.end(), i.dims.begin(), i.dims.end());
  dims.insert(dims.end(), x.dims.begin() + axis + 1, x.dims.end());
  op.lowering.note_size(x.dims[static_cast<size_t>(axis)].n);
  op.set(0, op.b.one("Gather", {x, i}, x.dtype, dims, Attributes().number("axis", axis)));
}

// Zeros plus the updates by ScatterND, which follows the first axis; another one is moved there and back.
void scatter_add(Op& op) {
  Builder& b = op.b;
  const Value updates = widened(op, 1);
  const int64_t axis = op.number("axis"), n_index = op.in[0].rank(), rank = op.type(0).rank;
  Dims shape = op.dims(0);
  if (!is_static(shape)) throw Unsupported("its shape must be known");
  if (is_empty(updates)) return op.set(0, b.full(op.type(0).dtype, shape, 0));
  op.lowering.note_size(shape[static_cast<size_t>(axis)].n);
  Ints to_front, front{axis}, back;
  for (int64_t i = 0; i < n_index; ++i) to_front.push_back(axis + i);
  for (int64_t i = 0; i < updates.rank(); ++i)
    if (i < axis || i >= axis + n_index) to_front.push_back(i);
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) front.push_back(i);
  for (int64_t i = 0; i < rank; ++i) back.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
  const Value zeros = b.full(updates.dtype, dims_of(permuted(numbers(shape), front)), 0);
  const Value strict = strict_indices(op, 0);
  Dims listed = strict.dims;
  listed.push_back(1);
  const Value i = b.one("Unsqueeze", {strict, b.ints({n_index})}, HG_INT64, listed);
  const Value y = b.one("ScatterND", {zeros, i, b.transpose(updates, to_front)}, updates.dtype,
                        zeros.dims, Attributes().text("reduction", "add"));
  op.set(0, b.transpose(y, back));
}

void top_k(Op& op) {
  const Value x = widened(op, 0);
  const auto out = op.b.emit("TopK", {x.name, op.b.ints({op.number("k")}).name}, 2,
                             Attributes().number("axis", -1));
  op.set(0, {out[0], x.dtype, op.dims(0)});
  op.set(1, {out[1], HG_INT64, op.dims(1)});
}

void in_top_k(Op& op) {
  Builder& b = op.b;
  const Value p = widened(op, 0), t = b.cast(op.in[1], HG_INT64);
  if (p.dims[1].n == 0) throw Unsupported("there are no classes");
  const Value zero = b.scalar(HG_INT64, 0);
  const Dim n = b.dim(p, 1);
  const Value classes = n.known() ? b.scalar(HG_INT64, static_cast<double>(n.n))
                                  : b.reshape({n.at, HG_INT64, {1}}, {});
  const Value is_class =
      b.compare("And", b.compare("GreaterOrEqual", t, zero), b.compare("Less", t, classes));
  Dims column = t.dims;
  column.push_back(1);
  const Value at = b.one("Unsqueeze", {b.where(is_class, t, zero), b.ints({1})}, HG_INT64, column);
  const Value mine =
      b.one("GatherElements", {p, at}, p.dtype, column, Attributes().number("axis", 1));
  const Value above =
      b.reduce("ReduceSum", b.cast(b.compare("Greater", p, mine), HG_INT64), {1}, false);
  const Value open =
      b.compare("Or", b.one("IsNaN", {p}, HG_BOOL, p.dims), b.one("IsInf", {p}, HG_BOOL, p.dims));
  const Value n_open = b.reduce("ReduceSum", b.cast(open, HG_INT64), {1}, false);
  const Value few =
      b.compare("Less", above, b.scalar(HG_INT64, static_cast<double>(op.number("k"))));
  op.set(0, b.compare("And", b.compare("And", is_class, few), b.compare("Equal", n_open, zero)));
}

}  // namespace

void add_indexing(Table& t) {
  t["gather"] = gather;
  t["scatter_add"] = scatter_add;
  t["top_k"] = top_k;
  t["in_top_k"] = in_top_k;
}

}  // namespace horngate::onnx
