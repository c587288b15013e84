// gather: rows of `inner` elements copied from where the indices say.
#include <cstring>

#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/indices.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {
namespace {

// Rows may lie anywhere: prefetch the start of one while earlier ones are copied.
constexpr int64_t kAhead = 6, kPrefetched = 512;

/// x is (outer, n, inner), the result (outer, count, inner).
struct Gather {
  AxisSplit split;
  int64_t axis, count;

  template <class T, class I>
  void run(const T* x, const I* indices, T* y) const {
    check_indices("gather", indices, count, axis, split.n);
    if (split.inner == 0) return;  // no memory to point to
    const int64_t inner = split.inner, bytes = inner * static_cast<int64_t>(sizeof(T));
    parallel_for(split.outer * count, grain_for(bytes), [&](int64_t begin, int64_t end) {
      int64_t o = begin / count, i = begin % count;
      for (int64_t row = begin; row < end; ++row) {
        if (inner > 1 && i + kAhead < count) {
          const auto* next =
              reinterpret_cast<const char*>(x + (o * split.n + indices[i + kAhead]) * inner);
          for (int64_t at = 0; at < std::min(bytes, kPrefetched); at += 64)
            __builtin_prefetch(next + at);
        }
        const T* from = x + (o * split.n + indices[i]) * inner;
        if (inner == 1)
          y[row] = *from;
        else
          std::memcpy(y + row * inner, from, static_cast<size_t>(bytes));
        if (++i == count) {
          i = 0;
          ++o;
        }
      }
    });
  }
};

}  // namespace

KernelPtr make_gather(const KernelCall& call) {
  const Shape& x = call.in[0].shape;
  const int64_t axis = normalize_axis("gather", call.as<attrs::gather>().axis, x);
  const Gather gather{split_at(x, axis), axis, call.in[1].shape.size()};
  return with_bytes(call.in[0].dtype, [&](auto element) {
    return with_index(call.in[1].dtype, [&](auto index) -> KernelPtr {
      using T = decltype(element);
      using I = decltype(index);
      return kernel_of([gather](const void* const* in, void* const* out, RunContext&) {
        gather.run(static_cast<const T*>(in[0]), static_cast<const I*>(in[1]),
                   static_cast<T*>(out[0]));
      });
    });
  });
}

}  // namespace horngate::native::kernels
