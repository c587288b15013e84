// recurrence: y_i = a_i y_(i-1) + b_i along an axis.
#include "engines/native/kernels/axis.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {
namespace {

template <class T>
struct Recurrence {
  AxisSplit split;
  bool reverse;

  void operator()(const void* const* in, void* const* out, RunContext&) const {
    if (split.inner == 1)
      return rows(static_cast<const T*>(in[0]), static_cast<const T*>(in[1]),
                  static_cast<T*>(out[0]));
    // Neighbouring lines are done together, kWidth at a time, so that memory is read in rows.
    const int64_t groups = (split.inner + kWidth - 1) / kWidth;
    const int64_t bytes = split.n * std::min(split.inner, kWidth) * static_cast<int64_t>(sizeof(T));
    parallel_for(split.outer * groups, grain_for(bytes), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % groups * kWidth, at = i / groups * split.n * split.inner + first;
        lines(static_cast<const T*>(in[0]) + at, static_cast<const T*>(in[1]) + at,
              static_cast<T*>(out[0]) + at, std::min(kWidth, split.inner - first));
      }
    });
  }

 private:
  static constexpr int64_t kWidth = 64, kRows = 8;

  /// Each element waits for the one before it, so several rows are done at once.
  void rows(const T* a, const T* b, T* y) const {
    const int64_t n = split.n;
    parallel_for(split.outer, grain_for(n * static_cast<int64_t>(sizeof(T))),
                 [&](int64_t begin, int64_t end) {
                   int64_t i = begin;
                   for (; i + kRows <= end; i += kRows)
                     some_rows<kRows>(a + i * n, b + i * n, y + i * n);
                   for (; i < end; ++i) some_rows<1>(a + i * n, b + i * n, y + i * n);
                 });
  }

  template <int kCount>
  void some_rows(const T* a, const T* b, T* y) const {
    Wide<T> last[kCount] = {};
    for (int64_t i = 0; i < split.n; ++i) {
      const int64_t column = reverse ? split.n - 1 - i : i;
#pragma GCC unroll 8
      for (int k = 0; k < kCount; ++k) {
        const int64_t at = column + k * split.n;
        last[k] = static_cast<Wide<T>>(widen(a[at]) * last[k] + widen(b[at]));
        y[at] = narrow<T>(last[k]);
      }
    }
  }

  void lines(const T* a, const T* b, T* y, int64_t width) const {
    Wide<T> last[kWidth] = {};
    for (int64_t i = 0; i < split.n; ++i) {
      const int64_t row = (reverse ? split.n - 1 - i : i) * split.inner;
      for (int64_t k = 0; k < width; ++k) {
        last[k] = static_cast<Wide<T>>(widen(a[row + k]) * last[k] + widen(b[row + k]));
        y[row + k] = narrow<T>(last[k]);
      }
    }
  }
};

}  // namespace

KernelPtr make_recurrence(const KernelCall& call) {
  const auto& a = call.as<attrs::recurrence>();
  const AxisSplit split = split_at(call.in[0].shape, a.axis);
  return with_dtype(call.in[0].dtype, [&](auto zero) -> KernelPtr {
    return in_place_kernel_of(Recurrence<decltype(zero)>{split, a.reverse});
  });
}

}  // namespace horngate::native::kernels
