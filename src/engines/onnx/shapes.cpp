// Primitives that move elements or make shapes.
#include <algorithm>

#include "lower.h"

namespace horngate::onnx {
namespace {

bool from_operand(const Ints& list) {
  return std::find(list.begin(), list.end(), kFromOperand) != list.end();
}

}  // namespace

Dims target_shape(Op& op) {
  const Ints wanted = op.ints("shape");
  Dims out;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int64_t known = op.type(0).dims[i];
    if (wanted[i] >= 0 || known >= 0) {
      out.push_back(wanted[i] >= 0 ? wanted[i] : known);
      continue;
    }
    if (wanted[i] != kFromOperand) {
      out.push_back(Dim(-1));
      continue;
    }
    const auto at = static_cast<int64_t>(i);
    const Value list = op.b.cast(op.in.back(), HG_INT64);
    out.push_back(Dim(op.b.slice(list, {at}, {at + 1}, {1}).name));
  }
  return out;
}

namespace {

void reshape(Op& op) { op.set(0, op.b.reshape(op.in[0], target_shape(op))); }

/// New or dropped axes of size 1: the other dimensions stay as they are.
void expand_dims(Op& op) {
  const Ints axes = op.ints("axes");
  Dims dims = op.in[0].dims;
  for (int64_t a : axes) dims.insert(dims.begin() + a, Dim(1));
  op.set(0, op.b.one("Unsqueeze", {op.in[0], op.b.ints(axes)}, op.in[0].dtype, dims));
}

void squeeze(Op& op) {
  const Ints axes = op.ints("axes");
  if (axes.empty()) return op.set(0, op.in[0]);
  Dims dims;
  for (int64_t i = 0; i < op.in[0].rank(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end())
      dims.push_back(op.in[0].dims[static_cast<size_t>(i)]);
  op.set(0, op.b.one("Squeeze", {op.in[0], op.b.ints(axes)}, op.in[0].dtype, dims));
}

void broadcast(Op& op) { op.set(0, op.b.expand(op.in[0], target_shape(op))); }

// It must be known which axes to sum: those that the shape lacks, and those where it has 1.
void sum_to(Op& op) {
  const Ints shape = op.ints("shape");
  const Value x = widened(op, 0);
  const size_t lead = x.dims.size() - shape.size();
  Ints summed;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (i >= lead && shape[i - lead] == kFromOperand && x.dims[i].n != 1)
      throw Unsupported("its shape must be known");
    if (i < lead || (shape[i - lead] == 1 && x.dims[i].n != 1))
      summed.push_back(static_cast<int64_t>(i));
  }
  Value y = op.b.reduce("ReduceSum", x, summed, true);
  if (lead) y = op.b.reshape(y, Dims(y.dims.begin() + static_cast<int64_t>(lead), y.dims.end()));
  op.set(0, y);
}

void transpose(Op& op) { op.set(0, op.b.transpose(op.in[0], op.ints("perm"))); }

void concat(Op& op) {
  std::vector<Value> parts;
  const int64_t axis = op.number("axis");
  for (const Value& v : op.in)
    if (v.dims[static_cast<size_t>(axis)].n != 0) parts.push_back(v);
  op.set(0, op.b.concat(parts, axis));
}

/// Bounds of a slice as an operand: numbers, or entries of the next operand where the attribute is
/// open.
Value bounds(Op& op, const Ints& wanted, size_t& next_operand) {
  if (!from_operand(wanted)) return op.b.ints(wanted);
  const Value list = op.b.cast(op.in[next_operand++], HG_INT64);
  std::vector<Value> parts;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    parts.push_back(wanted[i] == kFromOperand ? op.b.slice(list, {at}, {at + 1}, {1})
                                              : op.b.ints({wanted[i]}));
  }
  return op.b.concat(parts, 0);
}

void slice(Op& op) {
  const Value& x = op.in[0];
  if (x.dims.empty()) return op.set(0, x);
  Ints starts = op.ints("starts"), stops = op.ints("stops"), steps = op.ints("steps");
  if (steps.empty()) steps.assign(starts.size(), 1);
  // Backwards to the end means past the first element, which no count from either end can express.
  for (size_t i = 0; i < stops.size(); ++i)
    if (stops[i] == kToEnd && steps[i] < 0) stops[i] = INT64_MIN + 1;
  if (!from_operand(starts) && !from_operand(stops)) {
    Value y = op.b.slice(x, starts, stops, steps);
    y.dims = op.dims(0);
    return op.set(0, y);
  }
  Ints axes(starts.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  size_t operand = 1;
  const Value from = bounds(op, starts, operand);
  const Value to = bounds(op, stops, operand);
  op.set(0,
         op.b.one("Slice", {x, from, to, op.b.ints(axes), op.b.ints(steps)}, x.dtype, op.dims(0)));
}

void pad(Op& op) {
  const Value& x = op.in[0];
  const bool direct = x.dtype != HG_BFLOAT16 && x.dtype != HG_INT16 && x.dtype != HG_UINT16;
  const double value = op.real("value");
  if (is_empty(x)) return op.set(0, op.b.full(x.dtype, op.dims(0), value));
  op.set(0, op.b.pad(direct ? x : widened(op, 0), op.ints("low"), op.ints("high"), value));
}

void reverse(Op& op) {
  const Ints axes = op.ints("axes");
  if (axes.empty()) return op.set(0, op.in[0]);
  const Ints last(axes.size(), -1), before_first(axes.size(), INT64_MIN + 1);
  const Value &x = op.in[0], from = op.b.ints(last), to = op.b.ints(before_first);
  op.set(0, op.b.one("Slice", {x, from, to, op.b.ints(axes), from}, x.dtype, x.dims));
}

void iota(Op& op) {
  const Dims dims = target_shape(op);
  if (dims[0].known()) {
    Ints values;
    for (int64_t i = 0; i < dims[0].n; ++i) values.push_back(i);
    return op.set(0, op.b.ints(values));
  }
  const Value zero = op.b.scalar(HG_INT64, 0), one = op.b.scalar(HG_INT64, 1);
  const Value n = op.b.reshape({dims[0].at, HG_INT64, {1}}, {});
  op.set(0, op.b.one("Range", {zero, n, one}, HG_INT64, {Dim(-1)}));
}

void shape_of(Op& op) {
  const Value& x = op.in[0];
  op.set(0, op.b.one("Shape", {x}, HG_INT64, {x.rank()}));
}

void constant(Op& op) {
  const auto& buffer = *static_cast<const hg_buffer*>(op.find("value")->data);
  const Ints dims(buffer.type->dims, buffer.type->dims + buffer.type->rank);
  op.set(0, op.b.constant(buffer.type->dtype, dims, buffer.data));
}

void same(Op& op) { op.set(0, op.in[0]); }

}  // namespace

void add_shapes(Table& t) {
  t["reshape"] = reshape;
  t["expand_dims"] = expand_dims;
  t["squeeze"] = squeeze;
  t["broadcast"] = broadcast;
  t["sum_to"] = sum_to;
  t["transpose"] = transpose;
  t["concat"] = concat;
  t["slice"] = slice;
  t["pad"] = pad;
  t["reverse"] = reverse;
  t["iota"] = iota;
  t["shape_of"] = shape_of;
  t["constant"] = constant;
  t["stop_gradient"] = same;
}

}  // namespace horngate::onnx
