// in_top_k: counts the classes that score higher than the target.
#include <cmath>

#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/indices.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {
namespace {

template <class T>
bool is_in_top(const T* predictions, int64_t classes, int64_t target, int64_t k) {
  if (target < 0 || target >= classes) return false;
  const auto mine = widen(predictions[target]);
  int64_t above = 0;
  bool finite = true;
  for (int64_t i = 0; i < classes; ++i) {
    const auto p = widen(predictions[i]);
    above += p > mine;
    finite &= std::isfinite(p);
  }
  return finite && above < k;
}

template <class T, class I>
KernelPtr make(const AxisSplit& split, int64_t k) {
  return kernel_of([split, k](const void* const* in, void* const* out, RunContext&) {
    const T* predictions = static_cast<const T*>(in[0]);
    const I* targets = static_cast<const I*>(in[1]);
    bool* y = static_cast<bool*>(out[0]);
    parallel_for(split.outer, grain_for(split.n * static_cast<int64_t>(sizeof(T))),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     y[i] = is_in_top(predictions + i * split.n, split.n, targets[i], k);
                 });
  });
}

}  // namespace

KernelPtr make_in_top_k(const KernelCall& call) {
  const AxisSplit split = split_at(call.in[0].shape, -1);
  const int64_t k = call.as<attrs::in_top_k>().k;
  return with_index(call.in[1].dtype, [&](auto index) -> KernelPtr {
    using I = decltype(index);
    switch (call.in[0].dtype) {
      case DType::float16: return make<float16_t, I>(split, k);
      case DType::bfloat16: return make<bfloat16_t, I>(split, k);
      case DType::float64: return make<double, I>(split, k);
      default: return make<float, I>(split, k);
    }
  });
}

}  // namespace horngate::native::kernels
