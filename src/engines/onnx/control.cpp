// Loops as Scan, branches as If. Captures are seen by name.
#include <algorithm>

#include "lower.h"

namespace horngate::onnx {
namespace {

/// The index of each iteration, 0 .. length - 1, as a sequence: Scan needs one, and bodies may ask for it.
Value iterations(Op& op, int64_t n_x, const Ints& x_axes) {
  int64_t length = op.number("length");
  if (n_x > 0) {
    const Dim d = op.b.dim(op.in[0], x_axes[0]);
    if (!d.known()) {
      const Value n = op.b.reshape({d.at, HG_INT64, {1}}, {});
      return op.b.one("Range", {op.b.scalar(HG_INT64, 0), n, op.b.scalar(HG_INT64, 1)}, HG_INT64,
                      {Dim(-1)});
    }
    length = d.n;
  }
  if (length < 0) throw Unsupported("its length must be known");
  Ints all;
  for (int64_t i = 0; i < length; ++i) all.push_back(i);
  return op.b.ints(all);
}

/// In ONNX states keep their shape: axes of size 1 that the first step would repeat are repeated before it,
/// if it is known how often.
Value first_state(Op& op, const hg_graph& body, size_t n_x, size_t i) {
  const Value& given = op.in[n_x + i];
  const hg_type& after = *body.value[body.out[i]];
  Dims dims = given.dims;
  bool repeats = false;
  for (size_t k = 0; k < dims.size(); ++k) {
    const int64_t n = after.dims[k];
    if (dims[k].n != 1 || n <= 1) continue;
    dims[k] = Dim(n);
    repeats = true;
  }
  return repeats ? op.b.expand(given, dims) : given;
}

// Inputs of the body: slices, carries, captures, index. Sequences and what is stacked lie along the first axis: along others
// the runtime divides by the size of the rest, which may be 0, and the process ends.
void scan(Op& op) {
  Builder& b = op.b;
  const hg_graph& body = *op.node.body[0];
  const auto n_x = static_cast<size_t>(op.number("xs")),
             n_c = static_cast<size_t>(op.number("carries")),
             n_y = static_cast<size_t>(op.number("ys"));
  Ints x_axes = op.ints("x_axes"), x_back = op.ints("x_reversed");
  const Value index = iterations(op, static_cast<int64_t>(n_x), x_axes);
  if (index.dims[0].n == 0) {  // nothing runs
    for (size_t i = 0; i < n_c; ++i) op.set(i, op.in[n_x + i]);
    for (size_t i = n_c; i < n_c + n_y; ++i) op.set(i, b.full(op.type(i).dtype, op.dims(i), 0));
    return;
  }
  b.begin_body();
  std::vector<Value> inner, params;
  const auto add_param = [&](size_t i) {
    inner.push_back(value_of(b.unique("p"), *body.value[body.in[i]]));
    return inner.back();
  };
  for (size_t i = 0; i < n_x + n_c; ++i) add_param(i);
  for (size_t i = n_x + n_c; i + 1 < body.n_in; ++i) inner.push_back(op.in[i]);
  const Value step = add_param(body.n_in - 1);
  for (size_t i = 0; i < n_c; ++i) params.push_back(inner[n_x + i]);
  for (size_t i = 0; i < n_x; ++i) params.push_back(inner[i]);
  params.push_back(step);
  const Message made = b.end_body(params, op.lowering.graph(body, inner));

  std::vector<std::string> names;
  for (size_t i = 0; i < n_c; ++i) names.push_back(first_state(op, body, n_x, i).name);
  for (size_t i = 0; i < n_x; ++i) {
    names.push_back(b.move_axis(op.in[i], x_axes[i], 0).name);
    x_axes[i] = 0;
  }
  names.push_back(index.name);
  x_axes.push_back(0);
  x_back.push_back(0);
  Attributes how;
  how.graph("body", made)
      .number("num_scan_inputs", static_cast<int64_t>(n_x) + 1)
      .ints("scan_input_axes", x_axes)
      .ints("scan_input_directions", x_back);
  if (n_y > 0) how.ints("scan_output_directions", op.ints("y_reversed"));
  const auto out = b.emit("Scan", names, n_c + n_y, how);
  for (size_t i = 0; i < n_c; ++i) op.set(i, {out[i], op.type(i).dtype, op.dims(i)});
  const Ints y_axes = op.ints("y_axes");
  for (size_t i = n_c; i < n_c + n_y; ++i) {
    const int64_t axis = y_axes[i - n_c];
    Dims dims = op.dims(i);
    std::rotate(dims.begin(), dims.begin() + axis, dims.begin() + axis + 1);
    op.set(i, b.move_axis({out[i], op.type(i).dtype, dims}, 0, axis));
  }
}

void cond(Op& op) {
  Builder& b = op.b;
  size_t next = 1;
  const auto branch = [&](const hg_graph& body) {
    std::vector<Value> captures;
    for (uint32_t i = 0; i < body.n_in; ++i) captures.push_back(op.in[next++]);
    b.begin_body();
    return b.end_body({}, op.lowering.graph(body, captures));
  };
  const Message yes = branch(*op.node.body[0]), no = branch(*op.node.body[1]);
  const auto out = b.emit("If", {op.in[0].name}, op.node.n_out,
                          Attributes().graph("then_branch", yes).graph("else_branch", no));
  for (size_t i = 0; i < out.size(); ++i) op.set(i, {out[i], op.type(i).dtype, op.dims(i)});
}

}  // namespace

void add_control(Table& t) {
  t["scan"] = scan;
  t["cond"] = cond;
}

}  // namespace horngate::onnx
