// dot_general as a matrix product; top_k and in_top_k.
#include "lower.h"

namespace horngate::tf {
namespace {

Dims free_axes(size_t rank, const Dims& batch, const Dims& contracted) {
  std::vector<bool> used(rank, false);
  for (int64_t a : batch) used[static_cast<size_t>(a)] = true;
  for (int64_t a : contracted) used[static_cast<size_t>(a)] = true;
  Dims out;
  for (size_t i = 0; i < rank; ++i)
    if (!used[i]) out.push_back(static_cast<int64_t>(i));
  return out;
}

bool is_identity(const Dims& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

Dims joined(const Dims& a, const Dims& b, const Dims& c) {
  Dims r = a;
  r.insert(r.end(), b.begin(), b.end());
  r.insert(r.end(), c.begin(), c.end());
  return r;
}

int64_t product(const Value& v, const Dims& axes) {
  Dims sizes;
  for (int64_t a : axes) sizes.push_back(v.dims[static_cast<size_t>(a)]);
  return count(sizes);
}

struct Matrix {
  Value value;  // (batch, rows, columns), without batch if there is none
  bool transposed = false;
};

/// An operand as matrices of (first, second) axes, or transposed if that avoids moving data.
Matrix matrix_of(Graph& g, const Value& v, const Dims& batch, const Dims& first,
                 const Dims& second) {
  Dims perm = joined(batch, first, second);
  Matrix m;
  int64_t rows = product(v, first), columns = product(v, second);
  if (!is_identity(perm)) {
    const Dims other = joined(batch, second, first);
    if (is_identity(other)) {
      m.transposed = true;
      perm = other;
      std::swap(rows, columns);
    }
  }
  const Value moved = g.transpose(v, perm);
  m.value = g.reshape(moved,
                      batch.empty() ? Dims{rows, columns} : Dims{product(v, batch), rows, columns});
  return m;
}

void dot_general(LowerCall& c) {
  Graph& g = c.graph;
  const Node& n = c.node;
  const Dims batch_a = n.ints("batch_a"), batch_b = n.ints("batch_b"),
             contract_a = n.ints("contract_a"), contract_b = n.ints("contract_b");
  const Dims free_a = free_axes(c.in[0].rank(), batch_a, contract_a),
             free_b = free_axes(c.in[1].rank(), batch_b, contract_b);
  const char* op = batch_a.empty() ? "MatMul" : "BatchMatMulV2";
  const Type t = kernel_type(op, wide_type(c.in[0].type));
  const Value a = g.cast(c.in[0], t), b = g.cast(c.in[1], t);
  const Matrix ma = matrix_of(g, a, batch_a, free_a, contract_a),
               mb = matrix_of(g, b, batch_b, contract_b, free_b);
  Dims dims{product(a, free_a), product(b, free_b)};
  if (!batch_a.empty()) dims.insert(dims.begin(), product(a, batch_a));
  const Value y = g.op(op)
                      .in(ma.value)
                      .in(mb.value)
                      .type("T", t)
                      .flag(batch_a.empty() ? "transpose_a" : "adj_x", ma.transposed)
                      .flag(batch_a.empty() ? "transpose_b" : "adj_y", mb.transposed)
                      .value(t, dims);
  c.give(g.cast(g.reshape(y, n.out_dims(0)), c.in[0].type));
}

void top_k(LowerCall& c) {
  Graph& g = c.graph;
  const Value& x = c.in[0];
  const Type t = kernel_type("TopKV2", x.type);
  const Value k = g.integer(c.node.number("k", 1));
  const Value largest =
      g.op("TopKV2").in(g.cast(x, t)).in(k).type("T", t).value(t, c.node.out_dims(0));
  c.give(g.cast(largest, x.type));
  c.give(g.cast({{largest.out.op, 1}, kInt32, c.node.out_dims(1)}, c.out_type(1)));
}

// TensorFlow compares in float32, which cannot tell all float64 numbers apart.
bool can_in_top_k(const Node& n) { return n.in_type(0).dtype != HG_FLOAT64; }

void in_top_k(LowerCall& c) {
  Graph& g = c.graph;
  const Type t = c.in[1].type == kInt32 ? kInt32 : kInt64;
  const Value k =
      t == kInt32 ? g.integer(c.node.number("k", 1)) : g.integer(c.node.number("k", 1), kInt64);
  c.give(g.op("InTopKV2")
             .in(g.cast(c.in[0], kFloat))
             .in(g.cast(c.in[1], t))
             .in(k)
             .type("T", t)
             .value(kBool, c.node.out_dims(0)));
}

}  // namespace

Lowerings product_lowerings() {
  static constexpr Lowering kTable[] = {
      {"dot_general", dot_general}, {"top_k", top_k}, {"in_top_k", in_top_k, can_in_top_k}};
  return kTable;
}

}  // namespace horngate::tf
