// sparse_concat: matrices in compressed rows one after the other; columns stay in order.
#include <cstring>
#include <vector>

#include "engines/native/sparse.h"

namespace horngate::native::kernels {
namespace {

/// Where operand i begins in the result.
struct Block {
  int64_t rows, first_column;
};

/// Appends row `row` of `from` to `to`; returns the new number of elements.
int64_t append_row(const SparseView& from, int64_t row, const Block& block, size_t item, int64_t at,
                   SparseBuffer& to) {
  const int64_t begin = from.indptr[row], n = from.indptr[row + 1] - begin;
  for (int64_t e = 0; e < n; ++e)
    to.columns()[at + e] = from.indices[begin + e] + block.first_column;
  if (n > 0)
    std::memcpy(static_cast<char*>(to.data()) + static_cast<size_t>(at) * item,
                static_cast<const char*>(from.values) + static_cast<size_t>(begin) * item,
                static_cast<size_t>(n) * item);
  return at + n;
}

}  // namespace

KernelPtr make_sparse_concat(const KernelCall& call) {
  const bool below = call.as<attrs::sparse_concat>().axis == 0;
  const int64_t rows = call.out[0].shape.dim(0);
  const size_t item = size_of(call.out[0].dtype);
  std::vector<Block> blocks;
  int64_t columns = 0;
  for (const TensorType& t : call.in) {
    blocks.push_back({t.shape.dim(0), below ? 0 : columns});
    columns += t.shape.dim(1);
  }
  return kernel_of([=](const void* const* in, void* const* out, RunContext&) {
    const auto view = [&](size_t i) -> const SparseView& {
      return *static_cast<const SparseView*>(in[i]);
    };
    SparseBuffer& y = SparseBuffer::at(out[0]);
    int64_t count = 0, at = 0, done = 0;
    for (size_t i = 0; i < blocks.size(); ++i) count += view(i).nnz;
    y.resize(rows, count, item);
    if (below) {
      for (size_t i = 0; i < blocks.size(); ++i)
        for (int64_t row = 0; row < blocks[i].rows; ++row)
          y.row_starts()[++done] = at = append_row(view(i), row, blocks[i], item, at, y);
      return;
    }
    for (int64_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < blocks.size(); ++i)
        at = append_row(view(i), row, blocks[i], item, at, y);
      y.row_starts()[row + 1] = at;
    }
  });
}

}  // namespace horngate::native::kernels
