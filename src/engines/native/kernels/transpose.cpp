// transpose: after joining axes that stay together, either copies of whole rows, or 2-D
// transpositions of the axis that is dense in x against the one that is dense in the result.
#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/strided_copy.h"
#include "engines/native/kernels/transpose_tile.h"
#include "engines/native/threads.h"

namespace horngate::native::kernels {
namespace {

/// Axes of the result, outermost first.
CopyAxes result_axes(const Shape& x, const Ints& perm) {
  const size_t rank = x.ndim();
  Ints stride(rank, 1);
  for (size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * x.dim(i);
  CopyAxes axes(rank);
  int64_t dst = 1;
  for (size_t i = rank; i-- > 0;) {
    const auto from = static_cast<size_t>(perm[i]);
    axes[i] = {x.dim(from), stride[from], dst};
    dst *= x.dim(from);
  }
  return merge_axes(axes);
}

/// The last axis stays in place: rows are copied, unless a row is so short that it can count as one
/// element.
bool fold_row(CopyAxes& axes, int64_t& element_bytes) {
  const int64_t n = axes.back().n, bytes = n * element_bytes;
  if (axes.size() < 3 || (bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16)) return false;
  axes.pop_back();
  for (CopyAxis& a : axes) {
    a.src /= n;
    a.dst /= n;
  }
  element_bytes = bytes;
  return true;
}

/// Rows of the result per work item: long enough for the CPU to prefetch from its 16 streams,
/// shorter if there would be too few items for many threads.
constexpr int64_t kLongStrip = 512, kShortStrip = 64, kEnoughItems = 32;

template <class T>
class Transpose {
 public:
  explicit Transpose(CopyAxes axes) : column_(axes.back()) {
    axes.pop_back();
    size_t dense = 0;
    while (axes[dense].src != 1) ++dense;
    row_ = axes[dense];
    axes.erase(axes.begin() + dense);
    outer_ = std::move(axes);
    blocks_ = 1;
    for (const CopyAxis& a : outer_) blocks_ *= a.n;
    strip_ = kLongStrip;
    while (strip_ > kShortStrip && blocks_ * strips() < kEnoughItems) strip_ /= 2;
    // Streaming stores need rows that start at multiples of 16 bytes.
    bool aligned = row_.dst * sizeof(T) % 16 == 0;
    for (const CopyAxis& a : outer_) aligned = aligned && a.dst * sizeof(T) % 16 == 0;
    const int64_t elements = blocks_ * row_.n * column_.n;
    stream_ = aligned && elements * static_cast<int64_t>(sizeof(T)) >= kStreamBytes;
  }

  void operator()(const void* const* in, void* const* out, RunContext&) const {
    const T* x = static_cast<const T*>(in[0]);
    T* y = static_cast<T*>(out[0]);
    const int64_t strips = this->strips();
    const int64_t bytes = std::min(row_.n, strip_) * column_.n * static_cast<int64_t>(sizeof(T));
    parallel_for(blocks_ * strips, grain_for(bytes), [&](int64_t begin, int64_t end) {
      CopyCursor at(outer_.data(), outer_.size(), begin / strips);
      int64_t k = begin % strips;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = k * strip_, rows = std::min(strip_, row_.n - first);
        const T* src = x + at.src + first;
        T* dst = y + at.dst + first * row_.dst;
        if (stream_)
          transpose_block<true>(src, column_.src, dst, row_.dst, rows, column_.n);
        else
          transpose_block<false>(src, column_.src, dst, row_.dst, rows, column_.n);
        if (++k == strips) {
          k = 0;
          at.next();
        }
      }
      if (stream_) end_streaming();
    });
  }

 private:
  int64_t strips() const { return (row_.n + strip_ - 1) / strip_; }

  CopyAxes outer_;
  CopyAxis row_;     // dense in x
  CopyAxis column_;  // dense in the result
  int64_t blocks_;
  int64_t strip_;
  bool stream_;
};

template <class T>
KernelPtr tiled(CopyAxes axes) {
  return kernel_of(Transpose<T>(std::move(axes)));
}

}  // namespace

KernelPtr make_transpose(const KernelCall& call) {
  const DType dtype = call.in[0].dtype;
  CopyAxes axes = result_axes(call.in[0].shape, call.as<attrs::transpose>().perm);
  auto bytes = static_cast<int64_t>(size_of(dtype));
  const bool trivial = axes.empty() || call.out[0].shape.size() == 0;
  if (trivial || (axes.back().src == 1 && !fold_row(axes, bytes))) {
    return kernel_of([copy = StridedCopy(axes, dtype)](const void* const* in, void* const* out,
                                                       RunContext&) { copy.run(in[0], out[0]); });
  }
  switch (bytes) {
    case 1: return tiled<uint8_t>(std::move(axes));
    case 2: return tiled<uint16_t>(std::move(axes));
    case 4: return tiled<uint32_t>(std::move(axes));
    case 8: return tiled<uint64_t>(std::move(axes));
  }
  return tiled<Bytes16>(std::move(axes));
}

}  // namespace horngate::native::kernels
