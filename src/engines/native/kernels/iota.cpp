// iota: 0, 1, .. n - 1.
#include "engines/native/kernels/axis.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {

KernelPtr make_iota(const KernelCall& call) {
  const int64_t n = call.out[0].shape.size();
  return with_dtype(call.out[0].dtype, [&](auto zero) -> KernelPtr {
    using T = decltype(zero);
    return kernel_of([n](const void* const*, void* const* out, RunContext&) {
      T* y = static_cast<T*>(out[0]);
      parallel_for(n, grain_for(sizeof(T)), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) y[i] = narrow<T>(static_cast<Wide<T>>(i));
      });
    });
  });
}

}  // namespace horngate::native::kernels
