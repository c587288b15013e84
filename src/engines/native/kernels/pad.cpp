// pad: row by row of the result, so that every element is written once.
#include <cstring>

#include "engines/native/kernels/axis.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {
namespace {

/// An axis of x with its margins; axes without margins are merged into the one before.
struct PadAxis {
  int64_t n, low, high;
  int64_t size() const { return low + n + high; }
};

SmallVec<PadAxis, 4> merged(const Shape& x, const attrs::pad& a) {
  SmallVec<PadAxis, 4> axes{{1, 0, 0}};
  for (size_t i = 0; i < x.ndim(); ++i) {
    const PadAxis next{x.dim(i), a.low[i], a.high[i]};
    PadAxis& last = axes.back();
    if (next.low == 0 && next.high == 0)
      last = {last.n * next.n, last.low * next.n, last.high * next.n};
    else if (last.n == 1 && last.size() == 1)
      last = next;
    else
      axes.push_back(next);
  }
  return axes;
}

template <class T>
class Pad {
 public:
  Pad(SmallVec<PadAxis, 4> axes, T value) : row_(axes.back()), value_(value) {
    axes.pop_back();
    axes_ = std::move(axes);
    rows_ = row_.size() > 0 ? 1 : 0;
    for (const PadAxis& a : axes_) rows_ *= a.size();
  }

  void operator()(const void* const* in, void* const* out, RunContext&) const {
    const T* x = static_cast<const T*>(in[0]);
    T* y = static_cast<T*>(out[0]);
    const int64_t grain = grain_for(row_.size() * static_cast<int64_t>(sizeof(T)));
    parallel_for(rows_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) fill_row(x, y + i * row_.size(), i);
    });
  }

 private:
  void fill_row(const T* x, T* y, int64_t row) const {
    const int64_t source = source_row(row);
    if (source < 0) {
      std::fill_n(y, row_.size(), value_);
      return;
    }
    std::fill_n(y, row_.low, value_);
    if (row_.n > 0)
      std::memcpy(y + row_.low, x + source * row_.n, static_cast<size_t>(row_.n) * sizeof(T));
    std::fill_n(y + row_.low + row_.n, row_.high, value_);
  }

  /// The row of x that appears in a row of the result, or -1 in a margin.
  int64_t source_row(int64_t row) const {
    int64_t source = 0, stride = 1;
    for (size_t i = axes_.size(); i-- > 0;) {
      const PadAxis& a = axes_[i];
      const int64_t at = row % a.size() - a.low;
      if (at < 0 || at >= a.n) return -1;
      row /= a.size();
      source += at * stride;
      stride *= a.n;
    }
    return source;
  }

  SmallVec<PadAxis, 4> axes_;  // without the innermost
  PadAxis row_;
  T value_;
  int64_t rows_;
};

}  // namespace

KernelPtr make_pad(const KernelCall& call) {
  const auto& a = call.as<attrs::pad>();
  return with_dtype(call.in[0].dtype, [&](auto zero) -> KernelPtr {
    using T = decltype(zero);
    return kernel_of(Pad<T>(merged(call.in[0].shape, a), narrow<T>(static_cast<Wide<T>>(a.value))));
  });
}

}  // namespace horngate::native::kernels
