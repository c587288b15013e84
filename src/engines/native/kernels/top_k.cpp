// top_k: a heap of the k best positions per row, kept in the output itself, then sorted.
#include "engines/native/kernels/axis.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {
namespace {

/// Larger first, NaN before all numbers, equal ones by position. A strict order, so that rows with
/// NaN are safe.
template <class T>
struct Ahead {
  const T* x;
  bool operator()(int32_t a, int32_t b) const {
    const auto u = widen(x[a]), v = widen(x[b]);
    if (u > v) return true;
    if (u < v) return false;
    const bool u_nan = u != u, v_nan = v != v;
    return u_nan != v_nan ? u_nan : a < b;
  }
};

template <class T>
void top_of_row(const T* x, int64_t n, int64_t k, T* values, int32_t* at) {
  const Ahead<T> ahead{x};
  for (int64_t i = 0; i < k; ++i) at[i] = static_cast<int32_t>(i);
  std::make_heap(at, at + k, ahead);  // the worst of the k on top
  auto bound = widen(x[at[0]]);
  for (int64_t i = k; i < n; ++i) {
    // Most elements end here: they do not exceed the worst of the best, and a later one loses a
    // tie.
    if (widen(x[i]) <= bound || !ahead(static_cast<int32_t>(i), at[0])) continue;
    std::pop_heap(at, at + k, ahead);
    at[k - 1] = static_cast<int32_t>(i);
    std::push_heap(at, at + k, ahead);
    bound = widen(x[at[0]]);
  }
  std::sort_heap(at, at + k, ahead);
  for (int64_t i = 0; i < k; ++i) values[i] = x[at[i]];
}

}  // namespace

KernelPtr make_top_k(const KernelCall& call) {
  const AxisSplit split = split_at(call.in[0].shape, -1);
  const int64_t k = call.as<attrs::top_k>().k;
  check(split.n <= INT32_MAX, "top_k", "the last dimension must be below 2^31; got ", split.n, ".");
  return with_dtype(call.in[0].dtype, [&](auto zero) -> KernelPtr {
    using T = decltype(zero);
    return kernel_of([split, k](const void* const* in, void* const* out, RunContext&) {
      if (k == 0) return;
      const T* x = static_cast<const T*>(in[0]);
      T* values = static_cast<T*>(out[0]);
      int32_t* at = static_cast<int32_t*>(out[1]);
      parallel_for(split.outer, grain_for(split.n * static_cast<int64_t>(sizeof(T))),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       top_of_row(x + i * split.n, split.n, k, values + i * k, at + i * k);
                   });
    });
  });
}

}  // namespace horngate::native::kernels
