// StridedCopy: moves an n-dimensional block between two memories with a stride per axis. Slices,
// reversals, concatenations and simple transpositions are all of this kind.
#pragma once

#include <array>

#include "horngate/dtype.h"
#include "horngate/small_vec.h"

namespace horngate::native::kernels {

/// One axis of a block; strides in elements, negative ones run backwards.
struct CopyAxis {
  int64_t n, src, dst;
};
using CopyAxes = SmallVec<CopyAxis, 4>;

/// Drops axes of size 1 and joins neighbours that form one longer axis on both sides.
CopyAxes merge_axes(const CopyAxes& axes);

inline constexpr size_t kMaxCopyAxes = 64;

/// Steps through the index space of some axes and tracks both offsets.
class CopyCursor {
 public:
  CopyCursor(const CopyAxis* axes, size_t count, int64_t position);
  void next() {
    for (size_t i = count_; i-- > 0;) {
      src += axes_[i].src;
      dst += axes_[i].dst;
      if (++at_[i] < axes_[i].n) return;
      at_[i] = 0;
      src -= axes_[i].src * axes_[i].n;
      dst -= axes_[i].dst * axes_[i].n;
    }
  }
  int64_t src = 0, dst = 0;

 private:
  const CopyAxis* axes_;
  size_t count_;
  std::array<int64_t, kMaxCopyAxes> at_;
};

class StridedCopy {
 public:
  StridedCopy() = default;
  /// Axes from the outermost to the innermost.
  StridedCopy(const CopyAxes& axes, DType dtype);
  void run(const void* src, void* dst) const;

 private:
  template <class T>
  void run_as(const T* src, T* dst) const;

  CopyAxes axes_;     // without the innermost
  CopyAxis inner_{};  // the innermost
  int64_t rows_ = 0;  // product of axes_
  DType dtype_ = DType::uint8;
};

}  // namespace horngate::native::kernels
