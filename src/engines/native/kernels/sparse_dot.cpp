// sparse_dot: c = op(a) b for a in compressed rows, b dense.
#include <algorithm>

#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/half.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {
namespace {

// c[i] = sum over the elements of row i of value * b[column]
template <class T>
void by_rows(const SparseView& a, const T* b, T* c, int64_t rows, int64_t n) {
  const T* values = static_cast<const T*>(a.values);
  const int64_t per_row = a.nnz / std::max<int64_t>(1, rows) + 1;
  parallel_for(rows, grain_for(per_row * n * static_cast<int64_t>(sizeof(T))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   T* to = c + i * n;
                   std::fill(to, to + n, T(0));
                   for (int64_t e = a.indptr[i]; e < a.indptr[i + 1]; ++e) {
                     const T* from = b + a.indices[e] * n;
                     for (int64_t j = 0; j < n; ++j) to[j] += values[e] * from[j];
                   }
                 }
               });
}

// c[column] += value * b[row]: elements meet in a row of c, so threads share the columns of c, and
// each goes through all elements in the same order.
template <class T>
void by_columns(const SparseView& a, const T* b, T* c, int64_t rows, int64_t columns, int64_t n) {
  const T* values = static_cast<const T*>(a.values);
  const int64_t grain =
      std::max<int64_t>(16, grain_for((a.nnz + columns) * static_cast<int64_t>(sizeof(T))));
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < columns; ++i) std::fill(c + i * n + begin, c + i * n + end, T(0));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t e = a.indptr[i]; e < a.indptr[i + 1]; ++e) {
        T* to = c + a.indices[e] * n;
        const T* from = b + i * n;
        for (int64_t j = begin; j < end; ++j) to[j] += values[e] * from[j];
      }
  });
}

template <class T>
KernelPtr make(const Shape& a, int64_t n, bool transpose) {
  const int64_t rows = a.dim(0), columns = a.dim(1);
  return kernel_of([=](const void* const* in, void* const* out, RunContext&) {
    const SparseView& view = *static_cast<const SparseView*>(in[0]);
    const T* b = static_cast<const T*>(in[1]);
    T* c = static_cast<T*>(out[0]);
    if (transpose)
      by_columns(view, b, c, rows, columns, n);
    else
      by_rows(view, b, c, rows, n);
  });
}

}  // namespace

KernelPtr make_sparse_dot(const KernelCall& call) {
  const bool transpose = call.as<attrs::sparse_dot>().transpose_a;
  const int64_t n = call.in[1].shape.dim(1);
  if (call.in[1].dtype == DType::float64) return make<double>(call.in[0].shape, n, transpose);
  return make<float>(call.in[0].shape, n, transpose);
}

}  // namespace horngate::native::kernels
