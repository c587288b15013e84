// dot_general by Gemm or MatMul.
#include <algorithm>

#include "lower.h"

namespace horngate::onnx {
namespace {

bool contains(const Ints& list, int64_t v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

Ints free_axes(const Value& v, const Ints& batch, const Ints& contract) {
  Ints out;
  for (int64_t i = 0; i < v.rank(); ++i)
    if (!contains(batch, i) && !contains(contract, i)) out.push_back(i);
  return out;
}

Dims picked(const Dims& dims, const Ints& axes) {
  Dims out;
  for (int64_t a : axes) out.push_back(dims[static_cast<size_t>(a)]);
  return out;
}

/// The operand as (batch.., rows, columns), where rows and columns are groups of axes.
Value matrix(Builder& b, const Value& v, const Ints& batch, const Ints& rows, const Ints& columns) {
  Ints perm = batch;
  perm.insert(perm.end(), rows.begin(), rows.end());
  perm.insert(perm.end(), columns.begin(), columns.end());
  if (rows.size() == 1 && columns.size() == 1) return b.transpose(v, perm);
  const Dims all = b.dims(v);
  Dims dims = picked(all, batch);
  dims.push_back(b.product(picked(all, rows)));
  dims.push_back(b.product(picked(all, columns)));
  return b.reshape(b.transpose(v, perm), dims);
}

}  // namespace

void dot_general(Op& op) {
  Builder& b = op.b;
  const Ints batch_a = op.ints("batch_a"), batch_b = op.ints("batch_b"),
             contract_a = op.ints("contract_a"), contract_b = op.ints("contract_b");
  for (size_t i : {0, 1})
    if (is_empty(op.in[i])) return op.set(0, b.full(op.type(0).dtype, op.dims(0), 0));
  const Value x = widened(op, 0), y = widened(op, 1);
  const Ints free_a = free_axes(x, batch_a, contract_a), free_b = free_axes(y, batch_b, contract_b);
  // Two matrices: Gemm reads them transposed without moving them.
  if (x.rank() == 2 && y.rank() == 2 && contract_a.size() == 1 && batch_a.empty() &&
      is_float(x.dtype)) {
    const Attributes sides =
        Attributes().number("transA", contract_a[0] == 0).number("transB", contract_b[0] == 1);
    return op.set(0, b.one("Gemm", {x, y}, x.dtype, op.dims(0), sides));
  }
  // A matrix on the right: the other operand keeps its axes. Not for half floats: if the runtime finds a Transpose and
  // a Cast before such a MatMul, it crashes the process (MatmulTransposeFusion); below, a Reshape is between them.
  const bool is_half = op.in[0].dtype != x.dtype || op.in[1].dtype != y.dtype;
  if (!is_half && y.rank() == 2 && batch_a.empty() && contract_a.size() == 1 && x.rank() > 0 &&
      contract_a[0] == x.rank() - 1) {
    const Value right = contract_b[0] == 0 ? y : b.transpose(y, {1, 0});
    return op.set(0, b.one("MatMul", {x, right}, x.dtype, op.dims(0)));
  }
  const Value left = matrix(b, x, batch_a, free_a, contract_a);
  const Value right = matrix(b, y, batch_b, contract_b, free_b);
  Dims dims = left.dims;
  dims.back() = right.dims.back();
  const Value z = b.one("MatMul", {left, right}, x.dtype, dims);
  if (free_a.size() == 1 && free_b.size() == 1) return op.set(0, z);
  Dims out = op.dims(0);
  const Dims of_x = b.dims(x), of_y = b.dims(y);
  Dims run = picked(of_x, batch_a);
  for (const Dim& d : picked(of_x, free_a)) run.push_back(d);
  for (const Dim& d : picked(of_y, free_b)) run.push_back(d);
  for (size_t i = 0; i < out.size(); ++i)
    if (!out[i].known()) out[i] = run[i];
  op.set(0, b.reshape(z, out));
}

void add_products(Table& t) { t["dot_general"] = dot_general; }

}  // namespace horngate::onnx
