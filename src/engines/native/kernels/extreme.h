// Position of the largest or smallest element along an axis. As in NumPy, the first one wins a tie,
// and NaN wins over numbers.
#pragma once

#include "engines/native/kernels/axis.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {

/// Better()(a, b): a beats b, for numbers.
template <class T, class Better>
struct Extreme {
  using W = Wide<T>;
  AxisSplit split;

  void operator()(const void* const* in, void* const* out, RunContext&) const {
    const T* x = static_cast<const T*>(in[0]);
    int64_t* y = static_cast<int64_t*>(out[0]);
    const int64_t groups = (split.inner + kWidth - 1) / kWidth;
    const int64_t bytes = split.n * std::min(split.inner, kWidth) * static_cast<int64_t>(sizeof(T));
    parallel_for(split.outer * groups, grain_for(bytes), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t o = i / groups, first = i % groups * kWidth;
        const T* from = x + o * split.n * split.inner + first;
        if (split.inner == 1)
          y[o] = in_row(from, split.n);
        else
          in_columns(from, y + o * split.inner + first, std::min(kWidth, split.inner - first));
      }
    });
  }

 private:
  static constexpr int64_t kWidth = 64, kBlock = 16;

  /// Whether a must replace the best so far. `best` is not NaN; comparisons with NaN are false both
  /// ways.
  static bool beats(W a, W best) {
    if constexpr (std::is_floating_point_v<W>)
      return Better()(a, best) || a != a;
    else
      return Better()(a, best);
  }

  /// Blocks without a better element, soon nearly all of them, cost a single test.
  static int64_t in_row(const T* x, int64_t n) {
    W best = widen(x[0]);
    int64_t at = 0, i = 1;
    for (; i + kBlock <= n; i += kBlock) {
      unsigned found = 0;
      for (int64_t k = 0; k < kBlock; ++k) found |= beats(widen(x[i + k]), best) ? 1u : 0u;
      if (!found) continue;
      for (int64_t k = 0; k < kBlock && best == best; ++k)
        if (const W v = widen(x[i + k]); beats(v, best)) best = v, at = i + k;
      if (best != best) return at;
    }
    for (; i < n && best == best; ++i)
      if (const W v = widen(x[i]); beats(v, best)) best = v, at = i;
    return at;
  }

  void in_columns(const T* x, int64_t* y, int64_t width) const {
    W best[kWidth];
    for (int64_t k = 0; k < width; ++k) best[k] = widen(x[k]), y[k] = 0;
    for (int64_t i = 1; i < split.n; ++i) {
      const T* row = x + i * split.inner;
      for (int64_t k = 0; k < width; ++k) {
        const W v = widen(row[k]);
        if (best[k] == best[k] && beats(v, best[k])) best[k] = v, y[k] = i;
      }
    }
  }
};

template <class Better>
KernelPtr make_extreme(const KernelCall& call, int64_t axis) {
  const AxisSplit split = split_at(call.in[0].shape, axis);
  return with_dtype(call.in[0].dtype, [&](auto zero) -> KernelPtr {
    return kernel_of(Extreme<decltype(zero), Better>{split});
  });
}

}  // namespace horngate::native::kernels
