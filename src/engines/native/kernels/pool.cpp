// pool: y = maximum or mean of the elements of x in each window; padding does not count.
#include "engines/native/fused/targets.h"  // before Highway
#include "engines/native/kernels/pool_shape.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/kernels/pool.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace horngate::native::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct MaxOf {
  template <class T>
  static T Start() {
    return -std::numeric_limits<T>::infinity();
  }
  // A NaN stays, whichever comes first; the instruction sets' Max would drop some.
  template <class V>
  static HWY_INLINE V Join(V a, V x) {
    return hn::IfThenElse(hn::Or(hn::Gt(x, a), hn::IsNaN(x)), x, a);
  }
  template <class V>
  static HWY_INLINE V Finish(V a, V) {
    return a;
  }
};
struct SumOf {
  template <class T>
  static T Start() {
    return 0;
  }
  template <class V>
  static HWY_INLINE V Join(V a, V x) {
    return hn::Add(a, x);
  }
  template <class V>
  static HWY_INLINE V Finish(V a, V count) {
    return hn::Div(a, count);
  }
};

/// Windows of at least this many elements are joined row by row: sums of millions keep their digits.
constexpr int64_t kLongWindow = 4096;

/// kVectors vectors of neighbouring channels at one window; x and y point to the first of them.
template <class Op, int kVectors, bool kLong, class D, class T>
HWY_INLINE void PoolChannels(D d, const PoolShape& s, const PoolWindow& window, const T* x, T count,
                             T* y) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> a0 = hn::Set(d, Op::template Start<T>()), a1 = a0, a2 = a0, a3 = a0;
  hn::Vec<D> rows0 = a0, rows1 = a0, rows2 = a0, rows3 = a0;
  for (int64_t i = window.begin[0]; i < window.end[0]; ++i)
    for (int64_t j = window.begin[1]; j < window.end[1]; ++j) {
      const T* p = x + ((i * s.in[1] + j) * s.in[2] + window.begin[2]) * s.c;
      for (int64_t k = window.begin[2]; k < window.end[2]; ++k, p += s.c) {
        a0 = Op::Join(a0, hn::LoadU(d, p));
        if constexpr (kVectors == 4) {
          a1 = Op::Join(a1, hn::LoadU(d, p + lanes));
          a2 = Op::Join(a2, hn::LoadU(d, p + 2 * lanes));
          a3 = Op::Join(a3, hn::LoadU(d, p + 3 * lanes));
        }
      }
      if constexpr (kLong) {
        rows0 = Op::Join(rows0, a0);
        rows1 = Op::Join(rows1, a1);
        rows2 = Op::Join(rows2, a2);
        rows3 = Op::Join(rows3, a3);
        a0 = a1 = a2 = a3 = hn::Set(d, Op::template Start<T>());
      }
    }
  if constexpr (kLong) a0 = rows0, a1 = rows1, a2 = rows2, a3 = rows3;
  const auto n = hn::Set(d, count);
  hn::StoreU(Op::Finish(a0, n), d, y);
  if constexpr (kVectors == 4) {
    hn::StoreU(Op::Finish(a1, n), d, y + lanes);
    hn::StoreU(Op::Finish(a2, n), d, y + 2 * lanes);
    hn::StoreU(Op::Finish(a3, n), d, y + 3 * lanes);
  }
}

template <class Op, bool kLong, class T>
HWY_INLINE void PoolPixel(const PoolShape& s, const PoolWindow& window, const T* x, T count, T* y) {
  const hn::ScalableTag<T> full;
  const hn::CappedTag<T, 4> some;
  const hn::CappedTag<T, 1> one;
  const int64_t many = static_cast<int64_t>(hn::Lanes(full)),
                few = static_cast<int64_t>(hn::Lanes(some));
  int64_t c = 0;
  for (; c + 4 * many <= s.c; c += 4 * many)
    PoolChannels<Op, 4, kLong>(full, s, window, x + c, count, y + c);
  for (; c + many <= s.c; c += many)
    PoolChannels<Op, 1, kLong>(full, s, window, x + c, count, y + c);
  for (; c + few <= s.c; c += few) PoolChannels<Op, 1, kLong>(some, s, window, x + c, count, y + c);
  for (; c < s.c; ++c) PoolChannels<Op, 1, kLong>(one, s, window, x + c, count, y + c);
}

/// Rows [begin, end) of y, counted across all images.
template <class Op, class T>
void PoolRows(const PoolShape& s, const T* x, int64_t begin, int64_t end, T* y) {
  const int64_t rows = s.out[0] * s.out[1];
  for (int64_t row = begin; row < end; ++row) {
    const T* image = x + row / rows * s.in_size() * s.c;
    T* to = y + row * s.out[2] * s.c;
    PoolWindow window(s, row % rows / s.out[1], row % s.out[1], 0);
    for (int64_t w = 0; w < s.out[2]; ++w, to += s.c) {
      window.move(s, 2, w);
      const auto count = static_cast<T>(window.count());
      if (window.count() < kLongWindow)
        PoolPixel<Op, false>(s, window, image, count, to);
      else
        PoolPixel<Op, true>(s, window, image, count, to);
    }
  }
}

template <class T>
void PoolAny(const PoolShape& s, const T* x, int64_t begin, int64_t end, T* y) {
  s.average ? PoolRows<SumOf>(s, x, begin, end, y) : PoolRows<MaxOf>(s, x, begin, end, y);
}
void Pool32(const PoolShape& s, const float* x, int64_t begin, int64_t end, float* y) {
  PoolAny(s, x, begin, end, y);
}
void Pool64(const PoolShape& s, const double* x, int64_t begin, int64_t end, double* y) {
  PoolAny(s, x, begin, end, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace horngate::native::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/half.h"
#include "engines/native/kernels/planes.h"
#include "engines/native/kernels/workers.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {
namespace {

HWY_EXPORT(Pool32);
HWY_EXPORT(Pool64);

void pool_rows(const PoolShape& s, const float* x, int64_t begin, int64_t end, float* y) {
  HWY_DYNAMIC_DISPATCH(Pool32)(s, x, begin, end, y);
}
void pool_rows(const PoolShape& s, const double* x, int64_t begin, int64_t end, double* y) {
  HWY_DYNAMIC_DISPATCH(Pool64)(s, x, begin, end, y);
}

template <class T>
KernelPtr make_pixel_pool(const PoolShape& s) {
  const int64_t rows = s.n * s.out[0] * s.out[1];
  const int64_t bytes = s.n * s.c * s.in_size() * static_cast<int64_t>(sizeof(T));
  const int64_t grain = grain_for(bytes / std::max<int64_t>(1, rows));
  return kernel_of([=](const void* const* in, void* const* out, RunContext&) {
    parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
      pool_rows(s, static_cast<const T*>(in[0]), begin, end, static_cast<T*>(out[0]));
    });
  });
}

/// channels_first: blocks of planes go through channels-last scratch.
template <class T>
KernelPtr make_plane_pool(const PoolShape& s) {
  const int64_t blocks = (s.c + kPlaneBlock - 1) / kPlaneBlock, units = s.n * blocks;
  const int64_t slots = slots_for(units), big = s.in_size(), small = s.out_size();
  const size_t x_bytes = aligned_bytes(static_cast<size_t>(big * kPlaneBlock) * sizeof(T));
  const size_t bytes =
      x_bytes + aligned_bytes(static_cast<size_t>(small * kPlaneBlock) * sizeof(T));
  return kernel_of(
      [=](const void* const* in, void* const* out, RunContext& context) {
        for_units(units, slots, [&](int64_t slot, int64_t unit) {
          const int64_t c = unit % blocks * kPlaneBlock, plane = unit / blocks * s.c + c;
          char* scratch = static_cast<char*>(context.scratch) + bytes * static_cast<size_t>(slot);
          T *x = reinterpret_cast<T*>(scratch), *y = reinterpret_cast<T*>(scratch + x_bytes);
          PoolShape part = s;
          part.c = std::min(kPlaneBlock, s.c - c);
          planes_to_pixels(sizeof(T), static_cast<const T*>(in[0]) + plane * big, part.c, big, x);
          pool_rows(part, x, 0, s.out[0] * s.out[1], y);
          pixels_to_planes(sizeof(T), y, part.c, small, static_cast<T*>(out[0]) + plane * small);
        });
      },
      bytes * static_cast<size_t>(slots));
}

/// Maximum of integers: rare, so simple.
template <class T>
KernelPtr make_int_pool(const PoolShape& s) {
  return kernel_of([s](const void* const* in, void* const* out, RunContext&) {
    const T* x = static_cast<const T*>(in[0]);
    T* y = static_cast<T*>(out[0]);
    const int64_t channels = s.channels_first ? 1 : s.c;  // adjacent ones
    const int64_t images = s.channels_first ? s.n * s.c : s.n;
    parallel_for(images * s.out_size() * channels, 1 << 12, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t pixel = i / channels % s.out_size(), image = i / channels / s.out_size();
        const PoolWindow window(s, pixel / (s.out[1] * s.out[2]), pixel / s.out[2] % s.out[1],
                                pixel % s.out[2]);
        T best = std::numeric_limits<T>::lowest();
        for (int64_t d = window.begin[0]; d < window.end[0]; ++d)
          for (int64_t h = window.begin[1]; h < window.end[1]; ++h)
            for (int64_t w = window.begin[2]; w < window.end[2]; ++w) {
              const int64_t at = image * s.in_size() + (d * s.in[1] + h) * s.in[2] + w;
              best = std::max(best, x[at * channels + i % channels]);
            }
        y[i] = best;
      }
    });
  });
}

}  // namespace

KernelPtr make_pool(const KernelCall& call) {
  if (KernelPtr k = make_through_float(call, make_pool)) return k;
  const PoolShape s = pool_shape(call.as<attrs::pool>(), call.in[0].shape, call.out[0].shape);
  return with_dtype(call.in[0].dtype, [&](auto zero) -> KernelPtr {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      return s.channels_first ? make_plane_pool<T>(s) : make_pixel_pool<T>(s);
    else if constexpr (std::is_integral_v<T>)
      return make_int_pool<T>(s);
    return nullptr;
  });
}

}  // namespace horngate::native::kernels
#endif  // HWY_ONCE
