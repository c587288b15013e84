// softmax: by rows if the axis is the last one, else by groups of neighbouring columns.
#include "engines/native/kernels/softmax.h"

#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/half.h"
#include "engines/native/kernels/softmax_simd.h"
#include "engines/native/threads.h"

namespace horngate::native::kernels {
namespace {

template <class T>
struct Softmax {
  AxisSplit split;
  bool log;

  void operator()(const void* const* in, void* const* out, RunContext&) const {
    const T* x = static_cast<const T*>(in[0]);
    T* y = static_cast<T*>(out[0]);
    if (split.n == 0) return;
    if (split.inner == 1)
      rows(x, y);
    else
      columns(x, y);
  }

 private:
  // Computing an element costs several times as much as moving it.
  static constexpr int64_t kCost = 4 * sizeof(T);

  void rows(const T* x, T* y) const {
    parallel_for(split.outer, grain_for(split.n * kCost), [&](int64_t begin, int64_t end) {
      softmax_rows(x + begin * split.n, end - begin, split.n, log, y + begin * split.n);
    });
  }

  void columns(const T* x, T* y) const {
    constexpr int64_t kWidth = 64;
    const int64_t groups = (split.inner + kWidth - 1) / kWidth;
    const int64_t cost = split.n * std::min(split.inner, kWidth) * kCost;
    parallel_for(split.outer * groups, grain_for(cost), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % groups * kWidth, at = i / groups * split.n * split.inner + first;
        softmax_columns(x + at, split.n, split.inner, std::min(kWidth, split.inner - first), log,
                        y + at);
      }
    });
  }
};

}  // namespace

KernelPtr make_softmax_along(const KernelCall& call, int64_t axis, bool log) {
  const AxisSplit split = split_at(call.in[0].shape, axis);
  if (call.in[0].dtype == DType::float64) return in_place_kernel_of(Softmax<double>{split, log});
  return in_place_kernel_of(Softmax<float>{split, log});
}

KernelPtr make_softmax(const KernelCall& call) {
  if (KernelPtr kernel = make_through_float(call, make_softmax)) return kernel;
  return make_softmax_along(call, call.as<attrs::softmax>().axis, false);
}

}  // namespace horngate::native::kernels
