// What kernels along one axis share: the shape as (outer, n, inner), and how much work a thread
// takes.
#pragma once

#include <algorithm>

#include "engines/native/kernel.h"

namespace horngate::native::kernels {

/// The product of the dimensions before an axis, its own size, and the product of those after it.
struct AxisSplit {
  int64_t outer = 1, n = 1, inner = 1;
};
inline AxisSplit split_at(const Shape& shape, int64_t axis) {
  AxisSplit s;
  const auto rank = static_cast<int64_t>(shape.ndim());
  if (axis < 0) axis += rank;
  for (int64_t i = 0; i < rank; ++i)
    (i < axis ? s.outer : i == axis ? s.n : s.inner) *= shape.dim(static_cast<size_t>(i));
  return s;
}

/// Chunk length of a parallel_for over items that each move that many bytes: less is not worth a
/// thread.
inline int64_t grain_for(int64_t bytes_per_item) {
  return std::max<int64_t>(1, (int64_t{128} << 10) / std::max<int64_t>(1, bytes_per_item));
}

/// kernel_of for code that reads each element before writing it: output 0 may share the memory of
/// operand 0.
template <class F>
KernelPtr in_place_kernel_of(F f, size_t scratch = 0) {
  struct Impl final : Kernel {
    Impl(F fn, size_t bytes) : fn_(std::move(fn)), bytes_(bytes) {}
    void run(const void* const* in, void* const* out, RunContext& c) override { fn_(in, out, c); }
    size_t scratch_bytes() const override { return bytes_; }
    bool can_alias(size_t in, size_t out) const override { return in == 0 && out == 0; }
    F fn_;
    size_t bytes_;
  };
  return std::make_unique<Impl>(std::move(f), scratch);
}

}  // namespace horngate::native::kernels
