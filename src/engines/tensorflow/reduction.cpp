// Reductions, positions of extremes, running sums.
#include "lower.h"

namespace horngate::tf {
namespace {

template <const char* kOp>
void reduce(LowerCall& c) {
  c.give(c.graph.reduce(kOp, c.in[0], c.node.ints("axes"), c.node.flag("keepdims")));
}

void reduce_sum(LowerCall& c) {
  c.give(c.graph.sum(c.in[0], c.node.ints("axes"), c.node.flag("keepdims")));
}

constexpr char kProd[] = "Prod", kMax[] = "Max", kMin[] = "Min", kAny[] = "Any", kAll[] = "All",
               kCumsum[] = "Cumsum", kCumprod[] = "Cumprod", kArgMax[] = "ArgMax",
               kArgMin[] = "ArgMin";

Value position(Graph& g, const char* op, const Value& x, int64_t axis) {
  const Type t = kernel_type(op, x.type);
  Dims dims = x.dims;
  dims.erase(dims.begin() + axis);
  return g.op(op)
      .in(g.cast(x, t))
      .in(g.integer(axis))
      .type("T", t)
      .type("Tidx", kInt32)
      .type("output_type", kInt64)
      .value(kInt64, dims);
}

/// The first of equal elements; the first NaN if there is one, which TensorFlow would skip.
template <const char* kOp>
void arg(LowerCall& c) {
  Graph& g = c.graph;
  int64_t axis = c.node.number("axis");
  const Value& x = c.in[0];
  if (axis < 0) axis += static_cast<int64_t>(x.rank());
  const Value plain = position(g, kOp, x, axis);
  if (!is_float(x.type)) {
    c.give(plain);
    return;
  }
  const Value nan = g.compare("NotEqual", x, x);
  const Value first = position(g, "ArgMax", g.cast(nan, kInt32), axis);
  c.give(g.select(g.reduce("Any", nan, {axis}, false), first, plain));
}

template <const char* kOp>
void cumulate(LowerCall& c) {
  Graph& g = c.graph;
  const Value& x = c.in[0];
  const Type t = kernel_type(kOp, wide_type(x.type));
  c.give(g.cast(g.op(kOp)
                    .in(g.cast(x, t))
                    .in(g.integer(c.node.number("axis")))
                    .type("T", t)
                    .type("Tidx", kInt32)
                    .flag("exclusive", c.node.flag("exclusive"))
                    .flag("reverse", c.node.flag("reverse"))
                    .value(t, x.dims),
                x.type));
}

}  // namespace

Lowerings reduction_lowerings() {
  static constexpr Lowering kTable[] = {
      {"reduce_sum", reduce_sum},     {"reduce_prod", reduce<kProd>}, {"reduce_max", reduce<kMax>},
      {"reduce_min", reduce<kMin>},   {"reduce_any", reduce<kAny>},   {"reduce_all", reduce<kAll>},
      {"argmax", arg<kArgMax>},       {"argmin", arg<kArgMin>},       {"cumsum", cumulate<kCumsum>},
      {"cumprod", cumulate<kCumprod>}};
  return kTable;
}

}  // namespace horngate::tf
