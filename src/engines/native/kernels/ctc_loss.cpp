// ctc_loss: -log of the sum over all paths of the lattice, per sample; see ctc_lattice.h.
#include "engines/native/kernels/ctc_lattice.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native::kernels {
namespace {

using namespace ctc;

template <class T>
struct Worker {
  Worker(Scratch& scratch, const Sizes& sizes)
      : lattice(scratch, sizes, 2), row(scratch.take<Wide<T>>(sizes.classes)) {}
  Lattice<Wide<T>> lattice;
  Wide<T>* row;  // of a half type, made wide
};

template <class T>
class CtcLoss final : public Kernel {
 public:
  explicit CtcLoss(const KernelCall& call)
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
    read_targets("ctc_loss", sizes_, types_, in + 1, targets);
    const T* inputs = static_cast<const T*>(in[0]);
    T* losses = static_cast<T*>(out[0]);
    auto* workers = static_cast<char*>(context.scratch) + shared_bytes_;
    for_units(sizes_.batch, slots_, [&](int64_t slot, int64_t b) {
      Scratch own(workers + static_cast<size_t>(slot) * own_bytes_);
      Worker<T> w(own, sizes_);
      w.lattice.start(targets.labels + b * sizes_.labels, targets.label_length[b]);
      const T* x = inputs + b * sizes_.time * sizes_.classes;
      const auto row = [&](int64_t t) {
        return wide_row(x + t * sizes_.classes, sizes_.classes, w.row);
      };
      const double log_p = w.lattice.forward(targets.input_length[b], row, sizes_.classes);
      losses[b] = narrow<T>(static_cast<Wide<T>>(0.0 - log_p));
    });
  }

 private:
  Sizes sizes_;
  int64_t slots_;
  TensorType types_[3];
  size_t shared_bytes_ = 0, own_bytes_ = 0;
};

}  // namespace

KernelPtr make_ctc_loss(const KernelCall& call) {
  return with_float(call.in[0].dtype,
                    [&]<class T>(T) -> KernelPtr { return std::make_unique<CtcLoss<T>>(call); });
}

}  // namespace horngate::native::kernels
