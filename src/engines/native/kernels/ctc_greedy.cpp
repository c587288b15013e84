// ctc_greedy: the most probable class of each step, repeats merged, blanks dropped; per sample,
// minus the sum of the largest raw values.
#include "engines/native/kernels/ctc.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native::kernels {
namespace {

using namespace ctc;

// Writes one sample's labels, pads with -1, returns their number.
template <class T>
int64_t decode(const Sizes& s, bool merge, const T* x, int64_t time, Wide<T>* buffer,
               int64_t* labels, double* sum) {
  int64_t count = 0, previous = -1;
  *sum = 0;
  for (int64_t t = 0; t < time; ++t) {
    const Wide<T>* row = wide_row(x + t * s.classes, s.classes, buffer);
    const int64_t best = argmax(row, s.classes);
    *sum += static_cast<double>(row[best]);
    if (best != s.blank() && !(merge && best == previous)) labels[count++] = best;
    previous = best;
  }
  std::fill(labels + count, labels + s.time, int64_t{-1});
  return count;
}

template <class T>
class CtcGreedy final : public Kernel {
 public:
  explicit CtcGreedy(const KernelCall& call)
      : sizes_(sizes_of(call, false)),
        slots_(slots_for(sizes_.batch)),
        length_dtype_(call.in[1].dtype),
        merge_(call.as<attrs::ctc_greedy>().merge_repeated) {}

  size_t scratch_bytes() const override { return take(nullptr).bytes; }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    const Views v = take(context.scratch);
    read_input_length("ctc_greedy", sizes_, length_dtype_, in[1], v.input_length);
    const T* inputs = static_cast<const T*>(in[0]);
    auto* decoded = static_cast<int64_t*>(out[0]);
    T* scores = static_cast<T*>(out[2]);
    for_units(sizes_.batch, slots_, [&](int64_t slot, int64_t b) {
      double sum = 0;
      v.counts[b] =
          decode(sizes_, merge_, inputs + b * sizes_.time * sizes_.classes, v.input_length[b],
                 v.rows + slot * sizes_.classes, decoded + b * sizes_.time, &sum);
      scores[b] = narrow<T>(static_cast<Wide<T>>(0.0 - sum));
    });
    int64_t width = 0;
    for (int64_t b = 0; b < sizes_.batch; ++b) width = std::max(width, v.counts[b]);
    *static_cast<int64_t*>(out[1]) = width;
  }

 private:
  struct Views {
    int64_t *input_length, *counts;
    Wide<T>* rows;  // one per slot, for half types
    size_t bytes;
  };
  Views take(void* base) const {
    Scratch scratch(base);
    Views v{};
    v.input_length = scratch.take<int64_t>(sizes_.batch);
    v.counts = scratch.take<int64_t>(sizes_.batch);
    v.rows = scratch.take<Wide<T>>(slots_ * sizes_.classes);
    v.bytes = scratch.used();
    return v;
  }

  Sizes sizes_;
  int64_t slots_;
  DType length_dtype_;
  bool merge_;
};

}  // namespace

KernelPtr make_ctc_greedy(const KernelCall& call) {
  return with_float(call.in[0].dtype,
                    [&]<class T>(T) -> KernelPtr { return std::make_unique<CtcGreedy<T>>(call); });
}

}  // namespace horngate::native::kernels
