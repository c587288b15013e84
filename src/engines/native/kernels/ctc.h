// What the CTC kernels share: sizes, checked lengths and labels, rows in the type we compute in,
// and the SIMD loops. Shapes: inputs (batch, time, classes), labels (batch, max_labels); the blank
// is the last class.
#pragma once

#include <cstdint>
#include <type_traits>

#include "engines/native/kernel.h"
#include "ir/align.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels::ctc {

struct Sizes {
  int64_t batch = 0, time = 0, classes = 0, labels = 0;
  int64_t blank() const { return classes - 1; }
};
Sizes sizes_of(const KernelCall& call, bool has_labels);

/// Calls f with a value of the C++ type of a float dtype.
template <class F>
decltype(auto) with_float(DType t, F&& f) {
  switch (t) {
    case DType::float16: return f(float16_t{});
    case DType::bfloat16: return f(bfloat16_t{});
    case DType::float64: return f(double{});
    default: return f(float{});
  }
}

/// Hands out parts of a scratch block. Without a block it only counts bytes; the addresses are then
/// meaningless.
class Scratch {
 public:
  explicit Scratch(void* base = nullptr) : base_(base ? reinterpret_cast<uintptr_t>(base) : 64) {}
  template <class T>
  T* take(int64_t n) {
    const uintptr_t at = base_ + used_;
    used_ += aligned_bytes(static_cast<size_t>(n) * sizeof(T));
    return reinterpret_cast<T*>(at);
  }
  size_t used() const { return used_; }

 private:
  uintptr_t base_;
  size_t used_ = 0;
};

/// Lengths and labels as int64, in scratch. Reading throws a ValueError if one is out of range.
struct Targets {
  int64_t* input_length = nullptr;  // batch
  int64_t* label_length = nullptr;  // batch
  int64_t* labels = nullptr;        // batch * max_labels

  static Targets take(Scratch& scratch, const Sizes& sizes);
};
void read_input_length(const char* name, const Sizes& sizes, DType dtype, const void* from,
                       int64_t* to);
/// in: labels, input_length, label_length.
void read_targets(const char* name, const Sizes& sizes, const TensorType* types,
                  const void* const* in, const Targets& to);

/// A row in the type we compute in: itself, or converted into the buffer.
template <class T>
const Wide<T>* wide_row(const T* row, int64_t n, [[maybe_unused]] Wide<T>* buffer) {
  if constexpr (std::is_same_v<T, Wide<T>>) {
    return row;
  } else {
    for (int64_t i = 0; i < n; ++i) buffer[i] = widen(row[i]);
    return buffer;
  }
}

/// Stands for log 0: sums of a few stay finite, so that no difference is NaN.
inline constexpr double kLogZero = -1e30;
/// Anything below this is log 0, whatever was added to it.
inline constexpr double kImpossible = kLogZero / 2;
/// Widths of state rows are multiples of this, so that loops have no remainder on any instruction
/// set.
inline constexpr int64_t kStates = 16;

// The SIMD loops, for float and double.
template <class T>
struct RowStats {
  T max;  // NaN, or sum is, if the row has no softmax
  T sum;  // of exp(x - max)
};
#define HORNGATE_CTC_LOOPS(T)                                                                     \
  RowStats<T> row_stats(const T* x, int64_t n);                                                   \
  /* y = scale exp(x - max) */                                                                    \
  void scaled_exp(const T* x, int64_t n, T max, T scale, T* y);                                   \
  /* Index of the largest element, the first of equals. */                                        \
  int64_t argmax(const T* x, int64_t n);                                                          \
  /* One step in time over all states; n is a multiple of kStates. Returns the largest result. */ \
  /* out[s] = emit[s] - shift + log(exp from[s] + exp from[s-1] + exp(from[s-2] + skip[s])) */    \
  T step_forward(const T* from, const T* emit, const T* skip, T shift, int64_t n, T* out);        \
  /* the same with s+1, s+2 and skip[s+2] */                                                      \
  T step_backward(const T* from, const T* emit, const T* skip, T shift, int64_t n, T* out);       \
  /* p = exp(v - max v), v = alpha + beta - emit; returns the sum of p. */                        \
  T posterior(const T* alpha, const T* beta, const T* emit, int64_t n, T* p);
HORNGATE_CTC_LOOPS(float)
HORNGATE_CTC_LOOPS(double)
#undef HORNGATE_CTC_LOOPS

}  // namespace horngate::native::kernels::ctc
