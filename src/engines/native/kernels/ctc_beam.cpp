// ctc_beam: the most probable label sequences of each sample by prefix beam search; see
// ctc_beam_search.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/native/kernels/ctc_beam_search.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native::kernels {
namespace {

using namespace ctc;

template <class T>
class CtcBeam final : public Kernel {
  using R = Wide<T>;

 public:
  explicit CtcBeam(const KernelCall& call)
      : sizes_(sizes_of(call, false)),
        slots_(slots_for(sizes_.batch)),
        length_dtype_(call.in[1].dtype),
        attrs_(call.as<attrs::ctc_beam>()) {
    // There are never more prefixes than possible sequences; and node numbers have 31 bits.
    check(attrs_.beam_width < (int64_t{1} << 30) / std::max<int64_t>(sizes_.time, 1), "ctc_beam",
          "beam_width times time steps must be less than 2^30; got ", attrs_.beam_width, " and ",
          sizes_.time, ".");
    Scratch own;
    Worker(own, *this);
    own_bytes_ = own.used();
  }

  size_t scratch_bytes() const override {
    return shared_bytes() + own_bytes_ * static_cast<size_t>(slots_);
  }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    Scratch shared(context.scratch);
    auto* length = shared.take<int64_t>(sizes_.batch);
    auto* counts = shared.take<int64_t>(attrs_.top_paths * sizes_.batch);
    read_input_length("ctc_beam", sizes_, length_dtype_, in[1], length);
    const T* inputs = static_cast<const T*>(in[0]);
    auto* decoded = static_cast<int64_t*>(out[0]);
    auto* widths = static_cast<int64_t*>(out[1]);
    T* log_probability = static_cast<T*>(out[2]);
    auto* workers = static_cast<char*>(context.scratch) + shared_bytes();
    for_units(sizes_.batch, slots_, [&](int64_t slot, int64_t b) {
      Scratch own(workers + static_cast<size_t>(slot) * own_bytes_);
      Worker w(own, *this);
      const bool sound = search(w, inputs + b * sizes_.time * sizes_.classes, length[b]);
      for (int64_t p = 0; p < attrs_.top_paths; ++p) {
        const int64_t at = p * sizes_.batch + b;
        const bool found = sound && p < w.search.size();
        int64_t* labels = decoded + at * sizes_.time;
        counts[at] = found ? w.search.labels(p, attrs_.merge_repeated, labels) : 0;
        std::fill(labels + counts[at], labels + sizes_.time, int64_t{-1});
        const double none = sound ? -std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN();
        log_probability[b * attrs_.top_paths + p] =
            narrow<T>(static_cast<R>(found ? w.search.log_probability(p) : none));
      }
    });
    for (int64_t p = 0; p < attrs_.top_paths; ++p) {
      const int64_t* row = counts + p * sizes_.batch;
      widths[p] = sizes_.batch ? *std::max_element(row, row + sizes_.batch) : 0;
    }
  }

 private:
  struct Worker {
    Worker(Scratch& scratch, const CtcBeam& k)
        : search(scratch, k.sizes_, k.attrs_.beam_width), row(scratch.take<R>(k.sizes_.classes)) {}
    BeamSearch search;
    R* row;  // of a half type, widened
  };

  size_t shared_bytes() const {
    Scratch shared;
    shared.take<int64_t>(sizes_.batch);
    shared.take<int64_t>(attrs_.top_paths * sizes_.batch);
    return shared.used();
  }

  // False if a step has no softmax (NaN, infinity): then there is no result.
  bool search(Worker& w, const T* x, int64_t time) const {
    w.search.start();
    for (int64_t t = 0; t < time; ++t) {
      const R* row = wide_row(x + t * sizes_.classes, sizes_.classes, w.row);
      const RowStats<R> stats = row_stats(row, sizes_.classes);
      const double norm = static_cast<double>(stats.max) + std::log(static_cast<double>(stats.sum));
      if (!std::isfinite(norm)) return false;
      w.search.step(row, -norm);
    }
    return true;
  }

  Sizes sizes_;
  int64_t slots_;
  DType length_dtype_;
  attrs::ctc_beam attrs_;
  size_t own_bytes_ = 0;
};

}  // namespace

KernelPtr make_ctc_beam(const KernelCall& call) {
  return with_float(call.in[0].dtype,
                    [&]<class T>(T) -> KernelPtr { return std::make_unique<CtcBeam<T>>(call); });
}

}  // namespace horngate::native::kernels
