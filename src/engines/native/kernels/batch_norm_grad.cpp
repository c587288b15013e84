// batch_norm_grad(x, gamma, mean, var, dy) -> dx, dgamma, dbeta. With r = 1 / sqrt(var + epsilon),
// n elements per channel, s = sum(dy) and p = sum(dy * (x - mean)):
// dbeta = s, dgamma = p r, dx = gamma r (dy - s / n - (x - mean) r^2 p / n).
#include <cmath>

#include "engines/native/kernels/half.h"
#include "engines/native/kernels/norm.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native::kernels {
namespace {

template <class T>
class BatchNormGrad final : public Kernel {
 public:
  BatchNormGrad(const NormShape& s, double epsilon)
      : s_(s),
        epsilon_(epsilon),
        partial_bytes_(aligned_bytes(static_cast<size_t>(s.partials()) * sizeof(T))),
        channel_bytes_(aligned_bytes(static_cast<size_t>(s.channels()) * sizeof(T))) {}

  size_t scratch_bytes() const override { return 2 * partial_bytes_ + 3 * channel_bytes_; }

  // All sums are complete before the first element of the result is written.
  bool can_alias(size_t in, size_t out) const override { return (in == 0 || in == 4) && out == 0; }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    const T *x = static_cast<const T*>(in[0]), *gamma = static_cast<const T*>(in[1]),
            *mean = static_cast<const T*>(in[2]), *var = static_cast<const T*>(in[3]),
            *dy = static_cast<const T*>(in[4]);
    T *dx = static_cast<T*>(out[0]), *dgamma = static_cast<T*>(out[1]),
      *dbeta = static_cast<T*>(out[2]);
    char* scratch = static_cast<char*>(context.scratch);
    T *sums = reinterpret_cast<T*>(scratch),
      *products = reinterpret_cast<T*>(scratch + partial_bytes_);
    T* a = reinterpret_cast<T*>(scratch + 2 * partial_bytes_);
    T* b = reinterpret_cast<T*>(scratch + 2 * partial_bytes_ + channel_bytes_);
    T* c = reinterpret_cast<T*>(scratch + 2 * partial_bytes_ + 2 * channel_bytes_);
    const bool by_columns = s_.by_columns();
    parallel_for(s_.blocks(), s_.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const NormBlock k = s_.block(i);
        norm_sums(by_columns, k, x + k.offset, dy + k.offset, mean + k.channel, sums + k.partial,
                  products + k.partial);
      }
    });
    const double n = static_cast<double>(s_.count());
    parallel_for(s_.channels(), 1 << 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double s = total(sums, i), p = total(products, i);
        const double r = 1.0 / std::sqrt(static_cast<double>(var[i]) + epsilon_),
                     scale = gamma[i] * r;
        dbeta[i] = static_cast<T>(s);
        dgamma[i] = static_cast<T>(p * r);
        a[i] = static_cast<T>(scale);
        b[i] = static_cast<T>(-scale * r * r * p / n);
        c[i] = static_cast<T>(-scale * s / n);
      }
    });
    parallel_for(s_.blocks(), s_.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const NormBlock k = s_.block(i);
        norm_apply(by_columns, k, x + k.offset, dy + k.offset, mean + k.channel, a + k.channel,
                   b + k.channel, c + k.channel, dx + k.offset);
      }
    });
  }

 private:
  /// Adds the blocks of a channel, first to last.
  double total(const T* partials, int64_t channel) const {
    const int64_t first = channel / s_.k1 * s_.depth() * s_.k1 + channel % s_.k1;
    double sum = 0;
    for (int64_t i = 0; i < s_.depth(); ++i)
      sum += static_cast<double>(partials[first + i * s_.k1]);
    return sum;
  }

  NormShape s_;
  double epsilon_;
  size_t partial_bytes_, channel_bytes_;
};

}  // namespace

KernelPtr make_batch_norm_grad(const KernelCall& call) {
  if (KernelPtr k = make_through_float(call, make_batch_norm_grad)) return k;
  const auto& a = call.as<attrs::batch_norm_grad>();
  const std::optional<NormShape> s = norm_shape(call.in[0].shape, a.axes);
  if (!s) return make_transposed_norm(call, a, make_batch_norm_grad);
  if (call.in[0].dtype == DType::float64)
    return std::make_unique<BatchNormGrad<double>>(*s, a.epsilon);
  return std::make_unique<BatchNormGrad<float>>(*s, a.epsilon);
}

}  // namespace horngate::native::kernels
