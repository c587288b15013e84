// What ctc_loss and ctc_loss_grad share: the targets are read once, then workers take the samples one by one.
#pragma once

#include "engines/native/kernels/ctc_lattice.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native::kernels::ctc {

/// Worker: the memory for one sample, taken from a scratch by Worker(scratch, sizes).
template <class Worker>
class SampleKernel : public Kernel {
 public:
  explicit SampleKernel(const KernelCall& call)
      : sizes_(sizes_of(call, true)), slots_(slots_for(sizes_.batch)) {
    std::copy(call.in.begin() + 1, call.in.begin() + 4, types_);
    Scratch shared, own;
    Targets::take(shared, sizes_);
    Worker(own, sizes_);
    shared_bytes_ = shared.used();
    own_bytes_ = own.used();
  }

  size_t scratch_bytes() const override {
    return shared_bytes_ + own_bytes_ * static_cast<size_t>(slots_);
  }

 protected:
  /// Calls f(worker, targets, b) for each sample b.
  template <class F>
  void for_samples(const char* name, const void* const* in, RunContext& context, F&& f) const {
    Scratch shared(context.scratch);
    const Targets targets = Targets::take(shared, sizes_);
    read_targets(name, sizes_, types_, in + 1, targets);
    auto* workers = static_cast<char*>(context.scratch) + shared_bytes_;
    for_units(sizes_.batch, slots_, [&](int64_t slot, int64_t b) {
      Scratch own(workers + static_cast<size_t>(slot) * own_bytes_);
      Worker worker(own, sizes_);
      f(worker, targets, b);
    });
  }

  const Sizes sizes_;

 private:
  const int64_t slots_;
  TensorType types_[3];
  size_t shared_bytes_ = 0, own_bytes_ = 0;
};

}  // namespace horngate::native::kernels::ctc
