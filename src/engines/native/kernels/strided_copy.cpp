// StridedCopy: rows of the innermost axis, divided among threads.
#include "engines/native/kernels/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "engines/native/kernels/axis.h"
#include "engines/native/threads.h"
#include "ir/check.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {

CopyAxes merge_axes(const CopyAxes& axes) {
  CopyAxes out;
  for (const CopyAxis& a : axes) {
    if (a.n == 1) continue;
    if (!out.empty() && out.back().src == a.src * a.n && out.back().dst == a.dst * a.n)
      out.back() = {out.back().n * a.n, a.src, a.dst};
    else
      out.push_back(a);
  }
  check<NotImplementedError>(out.size() <= kMaxCopyAxes, "native", "tensors may have at most ",
                             kMaxCopyAxes, " dimensions after merging; got ", out.size(), ".");
  return out;
}

CopyCursor::CopyCursor(const CopyAxis* axes, size_t count, int64_t position)
    : axes_(axes), count_(count) {
  for (size_t i = count; i-- > 0;) {
    at_[i] = position % axes[i].n;
    position /= axes[i].n;
    src += at_[i] * axes[i].src;
    dst += at_[i] * axes[i].dst;
  }
}

StridedCopy::StridedCopy(const CopyAxes& axes, DType dtype)
    : axes_(merge_axes(axes)), dtype_(dtype) {
  inner_ = {1, 1, 1};
  if (!axes_.empty()) {
    inner_ = axes_.back();
    axes_.pop_back();
  }
  rows_ = inner_.n == 0 ? 0 : 1;
  for (const CopyAxis& a : axes_) rows_ *= a.n;
}

namespace {

/// memcpy, except for short rows (channels, coordinates), which are not worth a call.
template <class T>
void copy_dense(const T* src, T* dst, int64_t n) {
  constexpr int64_t kWide = 16 / sizeof(T);
  if (n < kWide) {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[i];
  } else if (n <= 8 * kWide) {
    for (int64_t i = 0; i + kWide <= n; i += kWide) std::memcpy(dst + i, src + i, 16);
    std::memcpy(dst + n - kWide, src + n - kWide, 16);
  } else {
    std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(T));
  }
}

template <class T>
void copy_row(const T* src, T* dst, int64_t n, int64_t src_stride, int64_t dst_stride) {
  if (src_stride == 1 && dst_stride == 1) {
    copy_dense(src, dst, n);
  } else if (dst_stride == 1) {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[i * src_stride];
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i * dst_stride] = src[i * src_stride];
  }
}

}  // namespace

template <class T>
void StridedCopy::run_as(const T* src, T* dst) const {
  // Long rows are cut, so that one row can be shared by several threads.
  constexpr int64_t kBlock = (int64_t{256} << 10) / static_cast<int64_t>(sizeof(T));
  const int64_t pieces = (inner_.n + kBlock - 1) / kBlock;
  const int64_t piece = std::min(inner_.n, kBlock);
  const int64_t grain = grain_for(piece * static_cast<int64_t>(sizeof(T)));
  parallel_for(rows_ * pieces, grain, [&](int64_t begin, int64_t end) {
    CopyCursor at(axes_.data(), axes_.size(), begin / pieces);
    int64_t k = begin % pieces;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = k * kBlock, n = std::min(kBlock, inner_.n - first);
      copy_row(src + at.src + first * inner_.src, dst + at.dst + first * inner_.dst, n, inner_.src,
               inner_.dst);
      if (++k == pieces) {
        k = 0;
        at.next();
      }
    }
  });
}

void StridedCopy::run(const void* src, void* dst) const {
  if (rows_ == 0) return;
  with_bytes(dtype_, [&](auto zero) {
    using T = decltype(zero);
    run_as(static_cast<const T*>(src), static_cast<T*>(dst));
  });
}

}  // namespace horngate::native::kernels
