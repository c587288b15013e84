// Sparse variables made of others.
#include "api/sparse.h"

#include <cstring>

#include "api/args.h"
#include "horngate/ops/variables.h"

namespace horngate {
namespace {

/// The matrix of a sparse variable; null for other tensors.
const Array* matrix_of(const Tensor& t) {
  if (!t.is_sparse() || t.node()->prim != Prim::variable) return nullptr;
  return &t.node()->as<attrs::variable>().state->value;
}

char* value_at(const Array& values, int64_t i) {
  return static_cast<char*>(values.raw()) + static_cast<size_t>(i) * size_of(values.dtype());
}

/// A matrix that is being filled.
struct Csr {
  Csr(DType dtype, int64_t rows, int64_t count)
      : indptr(Array::zeros(DType::int64, {rows + 1})),
        indices(DType::int64, {count}),
        values(dtype, {count}) {}
  Tensor variable(int64_t cols) const {
    return horngate::variable(Array::sparse(indptr, indices, values, {indptr.size() - 1, cols}));
  }
  Array indptr, indices, values;
};

/// A matrix within a larger one: its rows begin at first_row and its columns at first_col.
struct Block {
  Array matrix;
  int64_t first_row, first_col;
};

Csr assemble(const std::vector<Block>& blocks, DType dtype, int64_t rows) {
  int64_t count = 0, filled = 0;
  for (const Block& b : blocks) count += b.matrix.sparse_parts().values.size();
  Csr out(dtype, rows, count);
  for (int64_t row = 0; row < rows; ++row) {
    for (const Block& b : blocks) {
      if (row < b.first_row || row >= b.first_row + b.matrix.dims()[0]) continue;
      const auto& parts = b.matrix.sparse_parts();
      const int64_t* range = parts.indptr.data<int64_t>() + (row - b.first_row);
      for (int64_t i = range[0]; i < range[1]; ++i, ++filled) {
        out.indices.data<int64_t>()[filled] = parts.indices.data<int64_t>()[i] + b.first_col;
        std::memcpy(value_at(out.values, filled), value_at(parts.values, i), size_of(dtype));
      }
    }
    out.indptr.data<int64_t>()[row + 1] = filled;
  }
  return out;
}

}  // namespace

Tensor concatenate_sparse(const Tensors& tensors, int64_t axis) {
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = common_dtype(dtype, t.dtype());
  std::vector<Block> blocks;
  int64_t rows = 0, cols = 0;
  for (const Tensor& t : tensors) {
    const Array* matrix = matrix_of(t);
    if (!matrix) break;
    const int64_t n = matrix->dims()[0], m = matrix->dims()[1];
    blocks.push_back({matrix->cast(dtype), axis == 0 ? rows : 0, axis == 0 ? 0 : cols});
    rows = axis == 0 ? rows + n : n;
    cols = axis == 0 ? m : cols + m;
  }
  if (blocks.size() == tensors.size()) return assemble(blocks, dtype, rows).variable(cols);
  Tensors dense;
  for (const Tensor& t : tensors) dense.push_back(emit(attrs::to_dense{}, {t}));
  unify("concatenate", &dense);
  return prim::concat(dense, axis);
}

Tensor transpose_sparse(const Tensor& x) {
  const Array* matrix = matrix_of(x);
  check<TypeError>(matrix != nullptr, "transpose",
                   "x must be dense or a sparse variable; got a sparse tensor of shape ", x.shape(),
                   ". to_dense makes it dense.");
  const auto& parts = matrix->sparse_parts();
  const int64_t *indptr = parts.indptr.data<int64_t>(), *indices = parts.indices.data<int64_t>();
  const int64_t rows = matrix->dims()[0], cols = matrix->dims()[1], count = parts.values.size();
  Csr out(x.dtype(), cols, count);
  int64_t* starts = out.indptr.data<int64_t>();
  for (int64_t i = 0; i < count; ++i) ++starts[indices[i] + 1];
  for (int64_t c = 0; c < cols; ++c) starts[c + 1] += starts[c];
  std::vector<int64_t> next(starts, starts + cols);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = indptr[row]; i < indptr[row + 1]; ++i) {
      const int64_t to = next[static_cast<size_t>(indices[i])]++;
      out.indices.data<int64_t>()[to] = row;
      std::memcpy(value_at(out.values, to), value_at(parts.values, i), size_of(x.dtype()));
    }
  }
  return out.variable(rows);
}

Tensor sparse_factor(std::string_view function, const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  const Array* matrix = matrix_of(x);
  check<TypeError>(matrix != nullptr, function, "a sparse x must have the dtype of the product, ",
                   dtype, "; got ", x.dtype(), ".");
  return variable(matrix->cast(dtype));
}

}  // namespace horngate
