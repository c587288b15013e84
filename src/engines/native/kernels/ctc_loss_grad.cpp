// ctc_loss_grad: dx[t, k] = dloss (softmax(x[t])[k] - sum of p[t, s] over the states s of class k),
// where p are the posterior probabilities of the states. Zero where the loss is infinite and past
// the input's length.
#include "engines/native/kernels/ctc_lattice.h"
#include "engines/native/kernels/workers.h"

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
  R *row, *dx;  // of a half type, made wide
  R* beta[2];
  R* p;
};

template <class T>
class CtcLossGrad final : public Kernel {
  using R = Wide<T>;

 public:
  explicit CtcLossGrad(const KernelCall& call)
      : sizes_(sizes_of(call, true)), slots_(slots_for(sizes_.batch)) {
    std::copy(call.in.begin() + 1, call.in.begin() + 4, types_);
    Scratch shared, own;
    Targets::take(shared, sizes_);
    Worker<T>(own, sizes_);
    shared_bytes_ = shared.used();
    own_bytes_ = own.used();
  }

  size_t scratch_bytes() const override {
    return shared_bytes_ + own_bytes_ * static_cast<size_t>(slots_);
  }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    Scratch shared(context.scratch);
    const Targets targets = Targets::take(shared, sizes_);
    read_targets("ctc_loss_grad", sizes_, types_, in + 1, targets);
    const T* inputs = static_cast<const T*>(in[0]);
    const T* dlosses = static_cast<const T*>(in[4]);
    T* grads = static_cast<T*>(out[0]);
    auto* workers = static_cast<char*>(context.scratch) + shared_bytes_;
    const int64_t per_sample = sizes_.time * sizes_.classes;
    for_units(sizes_.batch, slots_, [&](int64_t slot, int64_t b) {
      Scratch own(workers + static_cast<size_t>(slot) * own_bytes_);
      Worker<T> w(own, sizes_);
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

  Sizes sizes_;
  int64_t slots_;
  TensorType types_[3];
  size_t shared_bytes_ = 0, own_bytes_ = 0;
};

}  // namespace

KernelPtr make_ctc_loss_grad(const KernelCall& call) {
  return with_float(call.in[0].dtype, [&]<class T>(T) -> KernelPtr {
    return std::make_unique<CtcLossGrad<T>>(call);
  });
}

}  // namespace horngate::native::kernels
