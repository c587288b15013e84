// Depthwise convolutions in plain loops: float64, and float32 where oneDNN declines.
#include <algorithm>

#include "engines/native/kernels/conv_shape.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native {
namespace {

constexpr int64_t kMostPartials = 8;

template <class T>
class DepthwiseConv final : public Kernel {
 public:
  DepthwiseConv(const ConvShape& s, ConvResult result) : s_(s), result_(result), times_(s.o / s.c) {
    units_ = s.n;
    if (result == ConvResult::dw) {
      per_unit_ = (s.n + kMostPartials - 1) / kMostPartials;
      units_ = (s.n + per_unit_ - 1) / per_unit_;
      bytes_ = static_cast<size_t>(units_ * s.w_count()) * sizeof(T);
    }
  }

  size_t scratch_bytes() const override { return bytes_; }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
    T* r = static_cast<T*>(out[0]);
    switch (result_) {
      case ConvResult::y:
        parallel_for(units_, 1, [&](int64_t begin, int64_t end) {
          std::fill(r + begin * s_.o * s_.out_size(), r + end * s_.o * s_.out_size(), T(0));
          for_products(begin, end, [=](int64_t x, int64_t w, int64_t y) { r[y] += a[x] * b[w]; });
        });
        break;
      case ConvResult::dx:
        parallel_for(units_, 1, [&](int64_t begin, int64_t end) {
          std::fill(r + begin * s_.c * s_.in_size(), r + end * s_.c * s_.in_size(), T(0));
          for_products(begin, end, [=](int64_t x, int64_t w, int64_t y) { r[x] += a[y] * b[w]; });
        });
        break;
      case ConvResult::dw: filter_grad(a, b, r, static_cast<T*>(context.scratch)); break;
    }
  }

 private:
  void filter_grad(const T* x, const T* dy, T* dw, T* partials) const {
    const int64_t count = s_.w_count();
    parallel_for(units_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t u = begin; u < end; ++u) {
        T* to = partials + u * count;
        std::fill(to, to + count, T(0));
        for_products(u * per_unit_, std::min(s_.n, (u + 1) * per_unit_),
                     [=](int64_t i, int64_t w, int64_t j) { to[w] += x[i] * dy[j]; });
      }
    });
    for (int64_t i = 0; i < count; ++i) {
      T total = partials[i];
      for (int64_t u = 1; u < units_; ++u) total += partials[u * count + i];
      dw[i] = total;
    }
  }

  /// Calls f(x index, w index, y index) for every product of images [begin, end).
  template <class F>
  void for_products(int64_t begin, int64_t end, F f) const {
    const int64_t planes = s_.channels_first ? s_.c : 1, channels = s_.channels_first ? 1 : s_.c;
    for (int64_t n = begin; n < end; ++n)
      for (int64_t plane = 0; plane < planes; ++plane) {
        const int64_t x0 = (n * planes + plane) * channels * s_.in_size();
        const int64_t y0 = (n * planes + plane) * channels * times_ * s_.out_size();
        for (int64_t d = 0; d < s_.out[0]; ++d)
          for (int64_t h = 0; h < s_.out[1]; ++h)
            for (int64_t w = 0; w < s_.out[2]; ++w)
              window(d, h, w, x0, plane * times_, y0, channels, f);
      }
  }

  template <class F>
  void window(int64_t d, int64_t h, int64_t w, int64_t x0, int64_t w0, int64_t y0, int64_t channels,
              F f) const {
    const int64_t pixel = (d * s_.out[1] + h) * s_.out[2] + w;
    // channels_first: each filter of a channel has its own plane.
    const int64_t y_step = s_.channels_first ? s_.out_size() : 1;
    const int64_t y = y0 + pixel * (s_.channels_first ? 1 : s_.o);
    for (int64_t tap = 0; tap < s_.tap_count(); ++tap) {
      const int64_t i = tap / (s_.taps[1] * s_.taps[2]), j = tap / s_.taps[2] % s_.taps[1];
      const int64_t xd = d * s_.stride[0] - s_.low[0] + i * s_.dilation[0];
      const int64_t xh = h * s_.stride[1] - s_.low[1] + j * s_.dilation[1];
      const int64_t xw = w * s_.stride[2] - s_.low[2] + tap % s_.taps[2] * s_.dilation[2];
      if (xd < 0 || xd >= s_.in[0] || xh < 0 || xh >= s_.in[1] || xw < 0 || xw >= s_.in[2])
        continue;
      const int64_t x = x0 + ((xd * s_.in[1] + xh) * s_.in[2] + xw) * channels;
      const int64_t weight = w0 + tap * s_.o;
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t m = 0; m < times_; ++m)
          f(x + c, weight + c * times_ + m, y + (c * times_ + m) * y_step);
    }
  }

  ConvShape s_;
  ConvResult result_;
  int64_t times_, units_ = 0, per_unit_ = 1;
  size_t bytes_ = 0;
};

}  // namespace

KernelPtr make_conv_depthwise(const ConvShape& s, ConvResult result, DType dtype) {
  if (!s.is_depthwise()) return nullptr;
  if (dtype == DType::float64) return std::make_unique<DepthwiseConv<double>>(s, result);
  return std::make_unique<DepthwiseConv<float>>(s, result);
}

}  // namespace horngate::native
