// batch_norm(x, gamma, beta) -> y, mean, var: y = (x - mean) / sqrt(var + epsilon) * gamma + beta,
// with mean and (biased) variance over the reduced axes.
#include <cmath>
#include <limits>

#include "engines/native/kernels/half.h"
#include "engines/native/kernels/norm.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native::kernels {
namespace {

template <class T>
class BatchNorm final : public Kernel {
 public:
  BatchNorm(const NormShape& s, double epsilon)
      : s_(s),
        epsilon_(epsilon),
        partial_bytes_(aligned_bytes(static_cast<size_t>(s.partials()) * sizeof(T))),
        scale_bytes_(aligned_bytes(static_cast<size_t>(s.channels()) * sizeof(T))) {}

  size_t scratch_bytes() const override { return 3 * partial_bytes_ + 2 * scale_bytes_; }

  // All sums are complete before the first element of the result is written.
  bool can_alias(size_t in, size_t out) const override { return in == 0 && out == 0; }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    const T *x = static_cast<const T*>(in[0]), *gamma = static_cast<const T*>(in[1]),
            *beta = static_cast<const T*>(in[2]);
    T *y = static_cast<T*>(out[0]), *mean = static_cast<T*>(out[1]), *var = static_cast<T*>(out[2]);
    char* scratch = static_cast<char*>(context.scratch);
    T *means = reinterpret_cast<T*>(scratch),
      *rests = reinterpret_cast<T*>(scratch + partial_bytes_),
      *squares = reinterpret_cast<T*>(scratch + 2 * partial_bytes_),
      *scale = reinterpret_cast<T*>(scratch + 3 * partial_bytes_),
      *shift = reinterpret_cast<T*>(scratch + 3 * partial_bytes_ + scale_bytes_);
    const bool by_columns = s_.by_columns();
    parallel_for(s_.blocks(), s_.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const NormBlock k = s_.block(i);
        norm_moments(by_columns, k, x + k.offset, means + k.partial, rests + k.partial,
                     squares + k.partial);
      }
    });
    parallel_for(s_.channels(), 1 << 10, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const auto [m, v] = combine(means, rests, squares, c);
        mean[c] = static_cast<T>(m);
        var[c] = static_cast<T>(v);
        const double factor = gamma[c] / std::sqrt(v + epsilon_);
        scale[c] = static_cast<T>(factor);
        // Make up for the rounding of the mean.
        shift[c] = static_cast<T>(beta[c] - (m - static_cast<double>(mean[c])) * factor);
      }
    });
    parallel_for(s_.blocks(), s_.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const NormBlock k = s_.block(i);
        norm_apply(by_columns, k, x + k.offset, static_cast<const T*>(nullptr), mean + k.channel,
                   static_cast<const T*>(nullptr), scale + k.channel, shift + k.channel,
                   y + k.offset);
      }
    });
  }

 private:
  struct Moments {
    double mean, var;
  };
  // Joins the blocks of a channel, first to last. With d the distance between the means,
  // squares = squares_a + squares_b + d^2 n_a n_b / (n_a + n_b).
  Moments combine(const T* means, const T* rests, const T* squares, int64_t channel) const {
    double n = 0, m = 0, sq = 0;
    const int64_t first = channel / s_.k1 * s_.depth() * s_.k1 + channel % s_.k1;
    for (int64_t b = 0; b < s_.depth(); ++b) {
      const double nb = static_cast<double>(s_.count(b)), total = n + nb;
      const int64_t at = first + b * s_.k1;
      const double d = static_cast<double>(means[at]) + static_cast<double>(rests[at]) - m;
      m += d * (nb / total);
      sq += static_cast<double>(squares[at]) + d * d * (n * nb / total);
      n = total;
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    return n > 0 ? Moments{m, sq / n} : Moments{none, none};
  }

  NormShape s_;
  double epsilon_;
  size_t partial_bytes_, scale_bytes_;
};

}  // namespace

KernelPtr make_batch_norm(const KernelCall& call) {
  if (KernelPtr k = make_through_float(call, make_batch_norm)) return k;
  const auto& a = call.as<attrs::batch_norm>();
  const std::optional<NormShape> s = norm_shape(call.in[0].shape, a.axes);
  if (!s) return make_transposed_norm(call, a, make_batch_norm);
  if (call.in[0].dtype == DType::float64) return std::make_unique<BatchNorm<double>>(*s, a.epsilon);
  return std::make_unique<BatchNorm<float>>(*s, a.epsilon);
}

}  // namespace horngate::native::kernels
