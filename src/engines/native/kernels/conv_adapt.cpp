// Convolutions turned into other convolutions that run faster.
#include <algorithm>

#include "engines/native/kernels/conv_shape.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native {
namespace {

class Swapped final : public Kernel {
 public:
  Swapped(const ConvShape& s, ConvResult result)
      : s_(s),
        result_(result),
        weight_bytes_(aligned_bytes(static_cast<size_t>(s.w_count()) * sizeof(float))),
        inner_(make_conv_gemm(swapped(s), result == ConvResult::y ? ConvResult::dx : ConvResult::dw,
                              DType::float32)) {}

  size_t scratch_bytes() const override { return weight_bytes_ + inner_->scratch_bytes(); }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    float* weights = static_cast<float*>(context.scratch);
    RunContext inner = context;
    inner.scratch = static_cast<char*>(context.scratch) + weight_bytes_;
    if (result_ == ConvResult::y) {
      flip_weights(static_cast<const float*>(in[1]), s_.tap_count(), s_.c, s_.o, weights);
      const void* operands[] = {in[0], weights};
      inner_->run(operands, out, inner);
    } else {
      const void* operands[] = {in[1], in[0]};
      void* results[] = {weights};
      inner_->run(operands, results, inner);
      flip_weights(weights, s_.tap_count(), s_.o, s_.c, static_cast<float*>(out[0]));
    }
  }

 private:
  ConvShape s_;
  ConvResult result_;
  size_t weight_bytes_;
  KernelPtr inner_;
};

/// A depthwise convolution with several filters per channel, done as one with a single filter per
/// channel on x with its channels repeated.
class Repeated final : public Kernel {
 public:
  Repeated(const ConvShape& s, ConvResult result, KernelPtr inner)
      : s_(s),
        result_(result),
        inner_(std::move(inner)),
        x_bytes_(aligned_bytes(static_cast<size_t>(s.n * s.o * s.in_size()) * sizeof(float))) {}

  static ConvShape inner_shape(const ConvShape& s) {
    ConvShape r = s;
    r.c = r.groups = s.o;
    return r;
  }

  size_t scratch_bytes() const override { return x_bytes_ + inner_->scratch_bytes(); }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    float* x = static_cast<float*>(context.scratch);
    RunContext inner = context;
    inner.scratch = static_cast<char*>(context.scratch) + x_bytes_;
    if (result_ == ConvResult::dx) {
      void* results[] = {x};
      inner_->run(in, results, inner);
      fold(x, static_cast<float*>(out[0]));
    } else {
      repeat(static_cast<const float*>(in[0]), x);
      const void* operands[] = {x, in[1]};
      inner_->run(operands, out, inner);
    }
  }

 private:
  // Number of consecutive elements of x that are repeated (or added up) together.
  int64_t run_length() const { return s_.channels_first ? s_.in_size() : 1; }
  int64_t times() const { return s_.o / s_.c; }

  void repeat(const float* from, float* to) const {
    const int64_t run = run_length(), times = this->times();
    parallel_for(s_.x_count() / run, std::max<int64_t>(1, (1 << 14) / run),
                 [=](int64_t begin, int64_t end) {
                   if (run == 1) {
                     for (int64_t m = 0; m < times; ++m)
                       for (int64_t i = begin; i < end; ++i) to[i * times + m] = from[i];
                     return;
                   }
                   for (int64_t i = begin; i < end; ++i)
                     for (int64_t m = 0; m < times; ++m)
                       std::copy(from + i * run, from + (i + 1) * run, to + (i * times + m) * run);
                 });
  }

  void fold(const float* from, float* to) const {
    const int64_t run = run_length(), times = this->times();
    parallel_for(s_.x_count() / run, std::max<int64_t>(1, (1 << 14) / run),
                 [=](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     for (int64_t j = 0; j < run; ++j) {
                       float sum = 0;
                       for (int64_t m = 0; m < times; ++m) sum += from[(i * times + m) * run + j];
                       to[i * run + j] = sum;
                     }
                 });
  }

  ConvShape s_;
  ConvResult result_;
  KernelPtr inner_;
  size_t x_bytes_;
};

KernelPtr make_repeated(const ConvShape& s, ConvResult result) {
  if (!s.is_depthwise() || s.o == s.c) return nullptr;
  KernelPtr inner = make_conv_onednn(Repeated::inner_shape(s), result);
  return inner ? std::make_unique<Repeated>(s, result, std::move(inner)) : nullptr;
}

KernelPtr make_swapped(const ConvShape& s, ConvResult result) {
  // oneDNN takes as long for 1 channel of y as for 12.
  if (s.groups > 1 || s.o >= 8 || s.o >= s.c || result == ConvResult::dx) return nullptr;
  // The swapped form has a window at each element of x instead of y.
  if (s.in_size() / 2 > s.out_size()) return nullptr;
  for (int i = 0; i < 3; ++i)
    if (s.stride[i] != 1 || s.low[i] >= s.span(i) || s.high[i] >= s.span(i)) return nullptr;
  return std::make_unique<Swapped>(s, result);
}

}  // namespace

KernelPtr make_conv_adapted(const ConvShape& s, ConvResult result) {
  if (KernelPtr k = make_repeated(s, result)) return k;
  return make_swapped(s, result);
}

}  // namespace horngate::native
