// pool_grad(x, y, dy): max: dy goes to the first element of each window that equals y, in row-major
// order; avg: dy / count goes to every element of the window.
#include "engines/native/fused/targets.h"  // before Highway
#include "engines/native/kernels/pool_shape.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/kernels/pool_grad.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace horngate::native::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// One image; its pixels are s.c elements apart.
template <class T>
struct Image {
  const T *x, *y, *dy;
  T* dx;
};

/// Some vectors of channels from c on, at one window. kStore: each element is in one window, so
/// nothing adds up.
template <bool kStore, int kVectors, class D, class T>
HWY_INLINE void Spread(D d, const PoolShape& s, const PoolWindow& window, const Image<T>& image,
                       T count, int64_t pixel, int64_t c) {
  using V = hn::Vec<D>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), from = pixel * s.c + c;
  const auto load = [&](const T* p, int v) {
    return v < kVectors ? hn::LoadU(d, p + v * lanes) : hn::Zero(d);
  };
  V rest0 = load(image.dy + from, 0),
    rest1 = load(image.dy + from, 1);  // max: not taken by any element yet
  if (s.average) {
    rest0 = hn::Div(rest0, hn::Set(d, count));
    rest1 = hn::Div(rest1, hn::Set(d, count));
  }
  const V best0 = load(image.y + from, 0), best1 = load(image.y + from, 1);
  const auto share = [&](V& rest, V best, const T* x) {
    if (s.average) return rest;
    const auto here = hn::Eq(hn::LoadU(d, x), best);
    const V taken = hn::IfThenElseZero(here, rest);
    rest = hn::IfThenZeroElse(here, rest);
    return taken;
  };
  const auto put = [&](V v, T* dx) {
    hn::StoreU(kStore ? v : hn::Add(hn::LoadU(d, dx), v), d, dx);
  };
  for (int64_t i = window.begin[0]; i < window.end[0]; ++i)
    for (int64_t j = window.begin[1]; j < window.end[1]; ++j) {
      int64_t at = ((i * s.in[1] + j) * s.in[2] + window.begin[2]) * s.c + c;
      for (int64_t k = window.begin[2]; k < window.end[2]; ++k, at += s.c) {
        put(share(rest0, best0, image.x + at), image.dx + at);
        if constexpr (kVectors == 2)
          put(share(rest1, best1, image.x + at + lanes), image.dx + at + lanes);
      }
    }
}

/// Channels [begin, end) of an image.
template <bool kStore, class T>
HWY_INLINE void SpreadImage(const PoolShape& s, const Image<T>& image, int64_t begin, int64_t end) {
  const hn::ScalableTag<T> full;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(full));
  if (!kStore)
    for (int64_t pixel = 0; pixel < s.in_size(); ++pixel)
      std::fill(image.dx + pixel * s.c + begin, image.dx + pixel * s.c + end, T(0));
  for (int64_t pixel = 0; pixel < s.out_size(); ++pixel) {
    const PoolWindow window(s, pixel / (s.out[1] * s.out[2]), pixel / s.out[2] % s.out[1],
                            pixel % s.out[2]);
    const T count = static_cast<T>(window.count());
    int64_t c = begin;
    for (; c + 2 * lanes <= end; c += 2 * lanes)
      Spread<kStore, 2>(full, s, window, image, count, pixel, c);
    for (; c + lanes <= end; c += lanes) Spread<kStore, 1>(full, s, window, image, count, pixel, c);
    for (; c < end; ++c) Spread<kStore, 1>(one, s, window, image, count, pixel, c);
  }
}

template <class T>
void SpreadAny(const PoolShape& s, const Image<T>& image, int64_t begin, int64_t end) {
  if (s.is_partition())
    SpreadImage<true>(s, image, begin, end);
  else
    SpreadImage<false>(s, image, begin, end);
}

void Spread32(const PoolShape& s, const float* x, const float* y, const float* dy, float* dx,
              int64_t begin, int64_t end) {
  SpreadAny(s, Image<float>{x, y, dy, dx}, begin, end);
}
void Spread64(const PoolShape& s, const double* x, const double* y, const double* dy, double* dx,
              int64_t begin, int64_t end) {
  SpreadAny(s, Image<double>{x, y, dy, dx}, begin, end);
}

}  // namespace HWY_NAMESPACE
}  // namespace horngate::native::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/half.h"
#include "engines/native/kernels/planes.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native::kernels {
namespace {

HWY_EXPORT(Spread32);
HWY_EXPORT(Spread64);

void spread(const PoolShape& s, const float* x, const float* y, const float* dy, float* dx,
            int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(Spread32)(s, x, y, dy, dx, begin, end);
}
void spread(const PoolShape& s, const double* x, const double* y, const double* dy, double* dx,
            int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(Spread64)(s, x, y, dy, dx, begin, end);
}

/// Units: an image, or some of its channels if there are few images.
template <class T>
KernelPtr make_pixel_grad(const PoolShape& s) {
  // Neighbouring threads must not write to one cache line, hence blocks of 64 channels.
  const int64_t block = s.n < 16 ? std::min<int64_t>(64, s.c) : s.c;
  const int64_t blocks = block > 0 ? (s.c + block - 1) / block : 0;
  const int64_t grain = grain_for(s.in_size() * block * static_cast<int64_t>(2 * sizeof(T)));
  return kernel_of([=](const void* const* in, void* const* out, RunContext&) {
    const T *x = static_cast<const T*>(in[0]), *y = static_cast<const T*>(in[1]),
            *dy = static_cast<const T*>(in[2]);
    T* dx = static_cast<T*>(out[0]);
    parallel_for(s.n * blocks, grain, [=](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t image = unit / blocks, c = unit % blocks * block;
        const int64_t big = image * s.in_size() * s.c, small = image * s.out_size() * s.c;
        spread(s, x + big, y + small, dy + small, dx + big, c, std::min(s.c, c + block));
      }
    });
  });
}

/// channels_first: blocks of planes go through channels-last scratch.
template <class T>
KernelPtr make_plane_grad(const PoolShape& s) {
  const int64_t blocks = (s.c + kPlaneBlock - 1) / kPlaneBlock, units = s.n * blocks;
  const int64_t slots = slots_for(units), big = s.in_size(), small = s.out_size();
  const size_t big_bytes = aligned_bytes(static_cast<size_t>(big * kPlaneBlock) * sizeof(T));
  const size_t small_bytes = aligned_bytes(static_cast<size_t>(small * kPlaneBlock) * sizeof(T));
  const size_t bytes = 2 * big_bytes + 2 * small_bytes;
  return kernel_of(
      [=](const void* const* in, void* const* out, RunContext& context) {
        for_units(units, slots, [&](int64_t slot, int64_t unit) {
          const int64_t c = unit % blocks * kPlaneBlock, plane = unit / blocks * s.c + c;
          char* scratch = static_cast<char*>(context.scratch) + bytes * static_cast<size_t>(slot);
          T *x = reinterpret_cast<T*>(scratch), *dx = reinterpret_cast<T*>(scratch + big_bytes),
            *y = reinterpret_cast<T*>(scratch + 2 * big_bytes),
            *dy = reinterpret_cast<T*>(scratch + 2 * big_bytes + small_bytes);
          PoolShape part = s;
          part.c = std::min(kPlaneBlock, s.c - c);
          if (!s.average) {
            planes_to_pixels(sizeof(T), static_cast<const T*>(in[0]) + plane * big, part.c, big, x);
            planes_to_pixels(sizeof(T), static_cast<const T*>(in[1]) + plane * small, part.c, small,
                             y);
          }
          planes_to_pixels(sizeof(T), static_cast<const T*>(in[2]) + plane * small, part.c, small,
                           dy);
          spread(part, x, y, dy, dx, 0, part.c);
          pixels_to_planes(sizeof(T), dx, part.c, big, static_cast<T*>(out[0]) + plane * big);
        });
      },
      bytes * static_cast<size_t>(slots));
}

template <class T>
KernelPtr make_grad(const PoolShape& s) {
  return s.channels_first ? make_plane_grad<T>(s) : make_pixel_grad<T>(s);
}

}  // namespace

KernelPtr make_pool_grad(const KernelCall& call) {
  if (KernelPtr k = make_through_float(call, make_pool_grad)) return k;
  const PoolShape s = pool_shape(call.as<attrs::pool_grad>(), call.in[0].shape, call.in[1].shape);
  return call.in[0].dtype == DType::float64 ? make_grad<double>(s) : make_grad<float>(s);
}

}  // namespace horngate::native::kernels
#endif  // HWY_ONCE
