// sparse_transpose: counts the elements of each column, then places them where their column begins.
#include <algorithm>

#include "engines/native/sparse.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {

KernelPtr make_sparse_transpose(const KernelCall& call) {
  const int64_t rows = call.in[0].shape.dim(0), columns = call.in[0].shape.dim(1);
  const size_t scratch = static_cast<size_t>(columns) * sizeof(int64_t);
  return with_bytes(call.in[0].dtype, [&](auto zero) -> KernelPtr {
    using T = decltype(zero);
    const auto run = [=](const void* const* in, void* const* out, RunContext& context) {
      const SparseView& x = *static_cast<const SparseView*>(in[0]);
      SparseBuffer& y = SparseBuffer::at(out[0]);
      y.resize(columns, x.nnz, sizeof(T));
      int64_t* starts = y.row_starts();
      std::fill(starts, starts + columns + 1, 0);
      for (int64_t e = 0; e < x.nnz; ++e) ++starts[x.indices[e] + 1];
      for (int64_t c = 0; c < columns; ++c) starts[c + 1] += starts[c];
      auto* next = static_cast<int64_t*>(context.scratch);
      std::copy(starts, starts + columns, next);
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t e = x.indptr[row]; e < x.indptr[row + 1]; ++e) {
          const int64_t to = next[x.indices[e]]++;
          y.columns()[to] = row;
          static_cast<T*>(y.data())[to] = static_cast<const T*>(x.values)[e];
        }
    };
    return kernel_of(run, scratch);
  });
}

}  // namespace horngate::native::kernels
