// to_dense: a matrix in compressed rows with its zeros written out; elements at the same place add
// up.
#include <algorithm>

#include "engines/native/kernels/axis.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {

KernelPtr make_to_dense(const KernelCall& call) {
  const int64_t rows = call.in[0].shape.dim(0), columns = call.in[0].shape.dim(1);
  return with_dtype(call.in[0].dtype, [&](auto zero) -> KernelPtr {
    using T = decltype(zero);
    return kernel_of([=](const void* const* in, void* const* out, RunContext&) {
      const SparseView& a = *static_cast<const SparseView*>(in[0]);
      const T* values = static_cast<const T*>(a.values);
      T* y = static_cast<T*>(out[0]);
      parallel_for(rows, grain_for(columns * static_cast<int64_t>(sizeof(T))),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       T* row = y + i * columns;
                       std::fill(row, row + columns, T{});
                       for (int64_t e = a.indptr[i]; e < a.indptr[i + 1]; ++e) {
                         T& to = row[a.indices[e]];
                         if constexpr (std::is_same_v<T, bool>)
                           to = to || values[e];
                         else
                           to = narrow<T>(static_cast<Wide<T>>(widen(to) + widen(values[e])));
                       }
                     }
                   });
    });
  });
}

}  // namespace horngate::native::kernels
