// Kernels of the float distributions: threads share the groups; halves come from float32.
#include "engines/native/kernels/random.h"

#include <algorithm>
#include <cstring>

#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels::random {
namespace {

constexpr int64_t kGrain = 256;  // groups: 8192 floats, some 10 us

// The largest value below 1 that stays below 1 when rounded to T.
template <class T>
constexpr float kBelowOne =
    sizeof(T) == 2 && dtype_v<T> == DType::float16 ? 1 - 0x1p-11f : 1 - 0x1p-8f;

// Whole groups go straight to the output, the rest of the last one through a buffer.
template <class T>
void fill(Law law, Stream stream, int64_t start, int64_t n, T* out) {
  constexpr int64_t kPerGroup = kGroupBytes / sizeof(T);
  start /= kPerGroup;
  const int64_t whole = n / kPerGroup, rest = n % kPerGroup;
  parallel_for(whole, kGrain, [&](int64_t begin, int64_t end) {
    generate(law, stream, static_cast<uint64_t>(start + begin), end - begin,
             out + begin * kPerGroup);
  });
  if (rest == 0) return;
  alignas(64) T last[kPerGroup];
  generate(law, stream, static_cast<uint64_t>(start + whole), 1, last);
  std::memcpy(out + whole * kPerGroup, last, static_cast<size_t>(rest) * sizeof(T));
}

template <class T>
void fill_half(Law law, Stream stream, int64_t start, int64_t n, T* out) {
  constexpr int64_t kPerGroup = kGroupBytes / sizeof(float);
  start /= kPerGroup;
  parallel_for((n + kPerGroup - 1) / kPerGroup, kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) float wide[kPerGroup];
    for (int64_t group = begin; group < end; ++group) {
      generate(law, stream, static_cast<uint64_t>(start + group), 1, wide);
      const int64_t first = group * kPerGroup, count = std::min(kPerGroup, n - first);
      for (int64_t i = 0; i < count; ++i)
        out[first + i] = narrow<T>(law == Law::uniform ? std::min(wide[i], kBelowOne<T>) : wide[i]);
    }
  });
}

}  // namespace

KernelPtr make_law(const KernelCall& call, Law law, int64_t seed) {
  const int64_t n = call.out[0].shape.size();
  const DType dtype = call.out[0].dtype;
  return kernel_of([=](const void* const* in, void* const* out, RunContext& c) {
    const auto* draw = static_cast<const uint64_t*>(in[0]);
    const Stream stream = stream_of(seed, draw[0], draw[1]);
    const int64_t start = c.first;
    switch (dtype) {
      case DType::float64: return fill(law, stream, start, n, static_cast<double*>(out[0]));
      case DType::float16: return fill_half(law, stream, start, n, static_cast<float16_t*>(out[0]));
      case DType::bfloat16:
        return fill_half(law, stream, start, n, static_cast<bfloat16_t*>(out[0]));
      default: return fill(law, stream, start, n, static_cast<float*>(out[0]));
    }
  });
}

}  // namespace horngate::native::kernels::random
