// random_bernoulli: 1 with probability p, else 0. Element i looks at word i of the stream in every
// dtype, so the same elements are 1 in all of them.
#include <algorithm>
#include <bit>
#include <cmath>

#include "engines/native/kernels/random.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {
namespace {

constexpr int64_t kPerGroup = random::kGroupBytes / sizeof(uint32_t);
constexpr int64_t kStep = 32;  // groups that fit in L1

uint64_t bits_of_one(DType t) {
  switch (t) {
    case DType::float16: return 0x3c00;
    case DType::bfloat16: return 0x3f80;
    case DType::float32: return std::bit_cast<uint32_t>(1.0f);
    case DType::float64: return std::bit_cast<uint64_t>(1.0);
    default: return 1;
  }
}

// word < limit, where limit = p 2^32 may be 2^32 itself. U is an unsigned integer of the dtype's
// size; no branch on random data.
template <class U>
void fill(random::Stream stream, uint64_t limit, U one, int64_t start, int64_t n, U* out) {
  start /= kPerGroup;
  if (limit == 0 || limit > UINT32_MAX) return void(std::fill_n(out, n, limit ? one : U{0}));
  const auto bound = static_cast<uint32_t>(limit);
  parallel_for((n + kPerGroup - 1) / kPerGroup, 8 * kStep, [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[kStep * kPerGroup];
    for (int64_t group = begin; group < end; group += kStep) {
      const int64_t groups = std::min(kStep, end - group), first = group * kPerGroup;
      random::generate_bits(stream, static_cast<uint64_t>(start + group), groups, words);
      const int64_t count = std::min(groups * kPerGroup, n - first);
      for (int64_t i = 0; i < count; ++i)
        out[first + i] = static_cast<U>(one & (U{0} - static_cast<U>(words[i] < bound)));
    }
  });
}

// float32, which dropout uses.
void fill_floats(random::Stream stream, uint64_t limit, int64_t start, int64_t n, float* out) {
  if (limit == 0 || limit > UINT32_MAX) return void(std::fill_n(out, n, limit ? 1.0f : 0.0f));
  const auto bound = static_cast<uint32_t>(limit);
  start /= kPerGroup;
  const int64_t whole = n / kPerGroup, rest = n % kPerGroup;
  parallel_for(whole, 8 * kStep, [&](int64_t begin, int64_t end) {
    random::generate_below(bound, stream, static_cast<uint64_t>(start + begin), end - begin,
                           out + begin * kPerGroup);
  });
  if (rest == 0) return;
  alignas(64) float last[kPerGroup];
  random::generate_below(bound, stream, static_cast<uint64_t>(start + whole), 1, last);
  std::copy_n(last, rest, out + whole * kPerGroup);
}

}  // namespace

KernelPtr make_random_bernoulli(const KernelCall& call) {
  const auto& a = call.as<attrs::random_bernoulli>();
  const auto limit = static_cast<uint64_t>(std::llround(std::ldexp(a.p, 32)));
  const uint64_t unit = bits_of_one(call.out[0].dtype);
  const int64_t n = call.out[0].shape.size(), seed = a.seed;
  if (call.out[0].dtype == DType::float32)
    return kernel_of([=](const void* const* in, void* const* out, RunContext& c) {
      const auto* draw = static_cast<const uint64_t*>(in[0]);
      fill_floats(random::stream_of(seed, draw[0], draw[1]), limit, c.first, n,
                  static_cast<float*>(out[0]));
    });
  return with_bytes(call.out[0].dtype, [&]<class U>(U) -> KernelPtr {
    const U one = static_cast<U>(unit);
    return kernel_of([=](const void* const* in, void* const* out, RunContext& c) {
      const auto* draw = static_cast<const uint64_t*>(in[0]);
      fill(random::stream_of(seed, draw[0], draw[1]), limit, one, c.first, n,
           static_cast<U*>(out[0]));
    });
  });
}

}  // namespace horngate::native::kernels
