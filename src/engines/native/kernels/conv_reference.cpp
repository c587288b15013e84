// The sum of a convolution written out, in float64 and on one thread: the reference for the fast kernels.
#include <algorithm>

#include "engines/native/kernels/conv_shape.h"

namespace horngate::native {
namespace {

template <class T>
class ConvReference final : public Kernel {
 public:
  ConvReference(const ConvShape& shape, ConvResult result) : s_(shape), result_(result) {}

  size_t scratch_bytes() const override { return static_cast<size_t>(count()) * sizeof(double); }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    double* sums = static_cast<double*>(context.scratch);
    std::fill(sums, sums + count(), 0.0);
    const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
    for (int64_t image = 0; image < s_.n; ++image)
      for (int64_t i = 0; i < s_.out[0]; ++i)
        for (int64_t j = 0; j < s_.out[1]; ++j)
          for (int64_t k = 0; k < s_.out[2]; ++k) window(image, {i, j, k}, a, b, sums);
    std::copy(sums, sums + count(), static_cast<T*>(out[0]));
  }

 private:
  using Axes = ConvShape::Axes;

  int64_t count() const {
    if (result_ == ConvResult::dw) return s_.w_count();
    return result_ == ConvResult::y ? s_.y_count() : s_.x_count();
  }

  static int64_t flat(const Axes& at, const Axes& sizes) {
    return (at[0] * sizes[1] + at[1]) * sizes[2] + at[2];
  }

  /// All taps of the window whose result is y[image, p].
  void window(int64_t image, const Axes& p, const T* a, const T* b, double* sums) const {
    Axes t;
    for (t[0] = 0; t[0] < s_.taps[0]; ++t[0])
      for (t[1] = 0; t[1] < s_.taps[1]; ++t[1])
        for (t[2] = 0; t[2] < s_.taps[2]; ++t[2]) {
          Axes q;
          bool inside = true;
          for (size_t i = 0; i < 3; ++i) {
            q[i] = p[i] * s_.stride[i] - s_.low[i] + t[i] * s_.dilation[i];
            inside &= q[i] >= 0 && q[i] < s_.in[i];
          }
          if (inside)
            channels(image, flat(q, s_.in), flat(p, s_.out), flat(t, s_.taps), a, b, sums);
        }
  }

  void channels(int64_t image, int64_t q, int64_t p, int64_t tap, const T* a, const T* b,
                double* sums) const {
    const int64_t x0 =
        s_.channels_first ? image * s_.c * s_.in_size() + q : (image * s_.in_size() + q) * s_.c;
    const int64_t y0 =
        s_.channels_first ? image * s_.o * s_.out_size() + p : (image * s_.out_size() + p) * s_.o;
    const int64_t x_step = s_.channels_first ? s_.in_size() : 1;
    const int64_t y_step = s_.channels_first ? s_.out_size() : 1;
    const int64_t cs = s_.c_per_group(), os = s_.o_per_group();
    for (int64_t c = 0; c < s_.c; ++c) {
      const int64_t o0 = c / cs * os;  // first channel of y in c's group
      const int64_t x = x0 + c * x_step, y = y0 + o0 * y_step;
      const int64_t w = (tap * cs + c % cs) * s_.o + o0;
      if (result_ == ConvResult::y)
        for (int64_t o = 0; o < os; ++o) sums[y + o * y_step] += double(a[x]) * double(b[w + o]);
      else if (result_ == ConvResult::dx)
        for (int64_t o = 0; o < os; ++o) sums[x] += double(a[y + o * y_step]) * double(b[w + o]);
      else
        for (int64_t o = 0; o < os; ++o) sums[w + o] += double(a[x]) * double(b[y + o * y_step]);
    }
  }

  ConvShape s_;
  ConvResult result_;
};

}  // namespace

KernelPtr make_conv_reference(const ConvShape& shape, ConvResult result, DType dtype) {
  if (dtype == DType::float64) return std::make_unique<ConvReference<double>>(shape, result);
  return std::make_unique<ConvReference<float>>(shape, result);
}

}  // namespace horngate::native
