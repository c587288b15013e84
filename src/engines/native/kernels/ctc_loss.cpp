// ctc_loss: -log of the sum over all paths of the lattice, per sample; see ctc_lattice.h.
#include "engines/native/kernels/ctc_samples.h"

namespace horngate::native::kernels {
namespace {

using namespace ctc;

template <class T>
struct Worker {
  Worker(Scratch& scratch, const Sizes& sizes)
      : lattice(scratch, sizes, 2), row(scratch.take<Wide<T>>(sizes.classes)) {}
  Lattice<Wide<T>> lattice;
  Wide<T>* row;  // of a half type, widened
};

template <class T>
class CtcLoss final : public SampleKernel<Worker<T>> {
  using Base = SampleKernel<Worker<T>>;
  using Base::sizes_;

 public:
  using Base::Base;

  void run(const void* const* in, void* const* out, RunContext& context) override {
    const int64_t time = sizes_.time, classes = sizes_.classes;
    const T* inputs = static_cast<const T*>(in[0]);
    T* losses = static_cast<T*>(out[0]);
    this->for_samples(
        "ctc_loss", in, context, [&](Worker<T>& w, const Targets& targets, int64_t b) {
          w.lattice.start(targets.labels + b * sizes_.labels, targets.label_length[b]);
          const T* x = inputs + b * time * classes;
          const auto row = [&](int64_t t) { return wide_row(x + t * classes, classes, w.row); };
          const double log_p = w.lattice.forward(targets.input_length[b], row, classes);
          losses[b] = narrow<T>(static_cast<Wide<T>>(0.0 - log_p));
        });
  }
};

}  // namespace

KernelPtr make_ctc_loss(const KernelCall& call) {
  return with_float(call.in[0].dtype,
                    [&]<class T>(T) -> KernelPtr { return std::make_unique<CtcLoss<T>>(call); });
}

}  // namespace horngate::native::kernels
