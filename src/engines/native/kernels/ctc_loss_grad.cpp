// ctc_loss_grad: dx[t, k] = dloss (softmax(x[t])[k] - sum of p[t, s] over the states s of class k),
// where p are the posterior probabilities of the states. Zero where the loss is infinite and beyond
// the input's length.
#include "engines/native/kernels/ctc_samples.h"

namespace horngate::native::kernels {
namespace {

using namespace ctc;

template <class T>
struct Worker {
  using R = Wide<T>;
  Worker(Scratch& scratch, const Sizes& sizes)
      : lattice(scratch, sizes, sizes.time + 2),
        row(scratch.take<R>(sizes.classes)),
        dx(scratch.take<R>(sizes.classes)) {
    const int64_t stride = Lattice<R>::stride_for(sizes.labels);
    beta[0] = scratch.take<R>(stride);
    beta[1] = scratch.take<R>(stride);
    p = scratch.take<R>(stride);
  }
  Lattice<R> lattice;
  R *row, *dx;  // of a half type, widened
  R* beta[2];
  R* p;
};

template <class T>
class CtcLossGrad final : public SampleKernel<Worker<T>> {
  using R = Wide<T>;
  using Base = SampleKernel<Worker<T>>;
  using Base::sizes_;

 public:
  using Base::Base;

  void run(const void* const* in, void* const* out, RunContext& context) override {
    const T* inputs = static_cast<const T*>(in[0]);
    const T* dlosses = static_cast<const T*>(in[4]);
    T* grads = static_cast<T*>(out[0]);
    const int64_t per_sample = sizes_.time * sizes_.classes;
    this->for_samples("ctc_loss_grad", in, context,
                      [&](Worker<T>& w, const Targets& targets, int64_t b) {
                        sample(w, targets.labels + b * sizes_.labels, targets.label_length[b],
                               targets.input_length[b], inputs + b * per_sample, widen(dlosses[b]),
                               grads + b * per_sample);
                      });
  }

 private:
  void sample(Worker<T>& w, const int64_t* labels, int64_t count, int64_t time, const T* x, R dloss,
              T* dx) {
    const int64_t classes = sizes_.classes;
    w.lattice.start(labels, count);
    const auto row = [&](int64_t t) { return wide_row(x + t * classes, classes, w.row); };
    const double log_p = w.lattice.forward(time, row, classes);
    if (!std::isfinite(log_p)) {
      const R fill = std::isnan(log_p) ? std::numeric_limits<R>::quiet_NaN() : R{0};
      std::fill(dx, dx + time * classes, narrow<T>(fill));
    } else {
      w.lattice.start_backward(w.beta[0], w.beta[1]);
      for (int64_t t = time - 1; t >= 0; --t)
        step(w, labels, count, t, row(t), dloss, dx + t * classes);
    }
    std::fill(dx + time * classes, dx + sizes_.time * classes, T{});
  }

  void step(Worker<T>& w, const int64_t* labels, int64_t count, int64_t t, const R* x, R dloss,
            T* dx) {
    R* y = w.dx;
    if constexpr (std::is_same_v<T, R>) y = dx;
    const R scale = dloss / w.lattice.backward(t, x, w.p);
    const RowStats<R>& stats = w.lattice.stats(t);
    scaled_exp(x, sizes_.classes, stats.max, dloss / stats.sum, y);
    R blank = 0;
    for (int64_t i = 0; i <= count; ++i) blank += w.p[2 * i];
    y[sizes_.blank()] -= scale * blank;
    for (int64_t i = 0; i < count; ++i) y[labels[i]] -= scale * w.p[2 * i + 1];
    if constexpr (!std::is_same_v<T, R>)
      for (int64_t k = 0; k < sizes_.classes; ++k) dx[k] = narrow<T>(y[k]);
  }
};

}  // namespace

KernelPtr make_ctc_loss_grad(const KernelCall& call) {
  return with_float(call.in[0].dtype, [&]<class T>(T) -> KernelPtr {
    return std::make_unique<CtcLossGrad<T>>(call);
  });
}

}  // namespace horngate::native::kernels
