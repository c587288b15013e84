// scatter_add: zeros, then each row of updates is added at its index, in the order of the updates.
// Threads share the rows of the result, so that no two of them add to the same place.
#include <cstring>

#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/indices.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {
namespace {

/// The result is (outer, n, inner), updates are (outer, count, inner).
struct ScatterAdd {
  AxisSplit split;
  int64_t axis, count;
  size_t size() const { return static_cast<size_t>(split.outer * split.n * split.inner); }

  /// Sums into W, which is wider than the half types of T.
  template <class T, class W, class I>
  void run(const I* indices, const T* updates, W* y) const {
    check_indices("scatter_add", indices, count, axis, split.n);
    if (split.inner == 0) return;  // no memory to point to
    // Every chunk of rows looks at all indices, so there are no more chunks than threads.
    const int64_t rows = split.outer * split.n, threads = thread_count();
    const int64_t work =
        split.outer * (split.n + count) * split.inner * static_cast<int64_t>(sizeof(T));
    const int64_t grain = work < (int64_t{256} << 10) ? rows : (rows + threads - 1) / threads;
    parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
      std::memset(static_cast<void*>(y + begin * split.inner), 0,
                  static_cast<size_t>((end - begin) * split.inner) * sizeof(W));
      for (int64_t o = begin / split.n; o * split.n < end; ++o)
        add_rows(indices, updates + o * count * split.inner, y + o * split.n * split.inner,
                 std::max<int64_t>(0, begin - o * split.n), std::min(split.n, end - o * split.n));
    });
  }

  /// The updates of rows [begin, end) of one outer index.
  template <class T, class W, class I>
  void add_rows(const I* indices, const T* updates, W* y, int64_t begin, int64_t end) const {
    const int64_t inner = split.inner;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = indices[i];
      if (row < begin || row >= end) continue;
      add_row(updates + i * inner, y + row * inner);
    }
  }

  template <class T, class W>
  void add_row(const T* __restrict from, W* __restrict to) const {
    constexpr int64_t kBlock = 16;  // a length known to the compiler becomes SIMD
    int64_t k = 0;
    for (; k + kBlock <= split.inner; k += kBlock)
      for (int64_t j = 0; j < kBlock; ++j) to[k + j] += widen(from[k + j]);
    for (; k < split.inner; ++k) to[k] += widen(from[k]);
  }
};

template <class T, class I>
KernelPtr make(const ScatterAdd& scatter) {
  using W = Wide<T>;
  if constexpr (std::is_same_v<W, T>) {
    return kernel_of([scatter](const void* const* in, void* const* out, RunContext&) {
      scatter.run(static_cast<const I*>(in[0]), static_cast<const T*>(in[1]),
                  static_cast<T*>(out[0]));
    });
  } else {
    const auto run = [scatter](const void* const* in, void* const* out, RunContext& context) {
      W* sums = static_cast<W*>(context.scratch);
      scatter.run(static_cast<const I*>(in[0]), static_cast<const T*>(in[1]), sums);
      T* y = static_cast<T*>(out[0]);
      parallel_for(static_cast<int64_t>(scatter.size()), grain_for(sizeof(W)),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) y[i] = narrow<T>(sums[i]);
                   });
    };
    return kernel_of(run, scatter.size() * sizeof(W));
  }
}

}  // namespace

KernelPtr make_scatter_add(const KernelCall& call) {
  const int64_t axis = call.as<attrs::scatter_add>().axis;
  const ScatterAdd scatter{split_at(call.out[0].shape, axis), axis, call.in[0].shape.size()};
  return with_dtype(call.in[1].dtype, [&](auto element) {
    return with_index(call.in[0].dtype, [&](auto index) {
      return make<decltype(element), decltype(index)>(scatter);
    });
  });
}

}  // namespace horngate::native::kernels
