// Running sums and products along an axis.
#pragma once

#include "engines/native/kernels/axis.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {

/// Op: Total<W>, the type that gathers elements of W; operator()(Total, Total); neutral(exclusive), the start value.
template <class T, class Op>
struct Cumulate {
  using Total = typename Op::template Total<Wide<T>>;

  AxisSplit split;
  bool exclusive, reverse;

  void operator()(const void* const* in, void* const* out, RunContext&) const {
    const T* x = static_cast<const T*>(in[0]);
    T* y = static_cast<T*>(out[0]);
    if (split.inner == 1) return rows(x, y);
    // Neighbouring lines are done together, kWidth at a time, so that memory is read in rows.
    const int64_t groups = (split.inner + kWidth - 1) / kWidth;
    const int64_t bytes = split.n * std::min(split.inner, kWidth) * static_cast<int64_t>(sizeof(T));
    parallel_for(split.outer * groups, grain_for(bytes), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % groups * kWidth, at = i / groups * split.n * split.inner + first;
        lines(x + at, y + at, std::min(kWidth, split.inner - first));
      }
    });
  }

 private:
  static constexpr int64_t kWidth = 64, kRows = 4;

  /// Each sum waits for the one before it, so several rows are done at once.
  void rows(const T* x, T* y) const {
    const int64_t n = split.n;
    parallel_for(split.outer, grain_for(n * static_cast<int64_t>(sizeof(T))),
                 [&](int64_t begin, int64_t end) {
                   int64_t i = begin;
                   for (; i + kRows <= end; i += kRows) some_rows<kRows>(x + i * n, y + i * n);
                   for (; i < end; ++i) some_rows<1>(x + i * n, y + i * n);
                 });
  }

  template <int kCount>
  void some_rows(const T* x, T* y) const {
    Total total[kCount];
    std::fill_n(total, kCount, Op::template neutral<Total>(exclusive));
    for (int64_t i = 0; i < split.n; ++i) {
      const int64_t column = reverse ? split.n - 1 - i : i;
#pragma GCC unroll 4
      for (int k = 0; k < kCount; ++k) {
        const Total with = Op()(total[k], static_cast<Total>(widen(x[column + k * split.n])));
        y[column + k * split.n] = narrow<T>(static_cast<Wide<T>>(exclusive ? total[k] : with));
        total[k] = with;
      }
    }
  }

  /// x and y may be the same memory: every element is read before its place is written.
  void lines(const T* x, T* y, int64_t width) const {
    Total total[kWidth];
    std::fill_n(total, width, Op::template neutral<Total>(exclusive));
    for (int64_t i = 0; i < split.n; ++i) {
      const int64_t row = (reverse ? split.n - 1 - i : i) * split.inner;
      for (int64_t k = 0; k < width; ++k) {
        const Total with = Op()(total[k], static_cast<Total>(widen(x[row + k])));
        y[row + k] = narrow<T>(static_cast<Wide<T>>(exclusive ? total[k] : with));
        total[k] = with;
      }
    }
  }
};

template <class Op, class A>
KernelPtr make_cumulate(const KernelCall& call, const A& a) {
  const AxisSplit split = split_at(call.in[0].shape, a.axis);
  return with_dtype(call.in[0].dtype, [&](auto zero) -> KernelPtr {
    return in_place_kernel_of(Cumulate<decltype(zero), Op>{split, a.exclusive, a.reverse});
  });
}

}  // namespace horngate::native::kernels
