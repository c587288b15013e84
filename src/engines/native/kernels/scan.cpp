// scan: runs its compiled body once per step. Slices along axis 0 are read and written in place; along another axis
// they go through a buffer. Carries alternate between two buffers, but one that is also stacked as a result lives in
// the result.
#include <algorithm>
#include <cstring>

#include "engines/native/bodies.h"
#include "ir/align.h"

namespace horngate::native::kernels {
namespace {

/// A sequence cut into slices along an axis: `outer` runs of `run` bytes, `length` of them interleaved.
struct Slices {
  size_t outer = 1, run = 0, length = 0;
  bool reversed = false;
  size_t buffer = 0;  // offset of the slice's buffer in the scratch, if it needs one

  Slices(const TensorType& t, int64_t axis, bool backwards) : reversed(backwards) {
    run = size_of(t.dtype);
    for (size_t i = 0; i < t.shape.ndim(); ++i) {
      const auto d = static_cast<size_t>(t.shape.dim(i));
      if (static_cast<int64_t>(i) < axis)
        outer *= d;
      else if (static_cast<int64_t>(i) == axis)
        length = d;
      else
        run *= d;
    }
  }
  bool direct() const { return outer == 1 && run % 64 == 0; }  // kernels expect aligned memory
  size_t bytes() const { return outer * run; }
  size_t position(size_t step) const { return reversed ? length - 1 - step : step; }
  std::byte* at(void* sequence, size_t step) const {
    return static_cast<std::byte*>(sequence) + position(step) * run;
  }
  void read(const std::byte* sequence, size_t step, std::byte* slice) const {
    if (run == 0) return;  // no memory to point to
    const std::byte* from = sequence + position(step) * run;
    for (size_t o = 0; o < outer; ++o) std::memcpy(slice + o * run, from + o * length * run, run);
  }
  void write(std::byte* sequence, size_t step, const std::byte* slice) const {
    if (run == 0) return;
    std::byte* to = sequence + position(step) * run;
    for (size_t o = 0; o < outer; ++o) std::memcpy(to + o * length * run, slice + o * run, run);
  }
};

class ScanKernel final : public Kernel {
 public:
  explicit ScanKernel(const KernelCall& call) {
    const auto& a = call.as<attrs::scan>();
    n_x_ = static_cast<size_t>(a.xs);
    n_c_ = static_cast<size_t>(a.carries);
    n_cap_ = call.in.size() - n_x_ - n_c_;
    length_ = static_cast<size_t>(a.length);
    const auto reserve = [&](size_t bytes) {
      const size_t at = scratch_;
      scratch_ += aligned_bytes(bytes);
      return at;
    };
    for (size_t i = 0; i < n_x_; ++i) {
      xs_.emplace_back(call.in[i], a.x_axes[i], a.x_reversed[i]);
      if (!xs_.back().direct()) xs_.back().buffer = reserve(xs_.back().bytes());
    }
    for (size_t i = 0; i < n_c_; ++i) {
      carry_bytes_.push_back(call.out[i].nbytes());
      for (int k = 0; k < 2; ++k) carry_buffer_[k].push_back(reserve(carry_bytes_.back()));
    }
    for (size_t i = 0; i < static_cast<size_t>(a.ys); ++i) {
      ys_.emplace_back(call.out[n_c_ + i], a.y_axes[i], a.y_reversed[i]);
      if (!ys_.back().direct()) ys_.back().buffer = reserve(ys_.back().bytes());
    }
    body_ = compile_body(prepared_body(*call.bodies[0]));
    step_ = reserve(sizeof(int64_t));
    pointers_in_ = reserve((call.in.size() + 1) * sizeof(void*));
    pointers_out_ = reserve(call.out.size() * sizeof(void*));
    arena_ = reserve(body_->arena_bytes());
    derived_ = reserve(body_->derived_bytes());
  }

  size_t scratch_bytes() const override { return scratch_; }

  size_t derived_bytes() const override { return body_->derived_bytes(); }
  std::vector<size_t> derived_from() const override {
    std::vector<size_t> captures;
    for (size_t i = 0; i < n_cap_; ++i) captures.push_back(n_x_ + n_c_ + i);
    return captures;
  }
  void derive(const void* const* from, void* to, RunContext& context) override {
    auto* scratch = static_cast<std::byte*>(context.scratch);
    auto** body_in = reinterpret_cast<const void**>(scratch + pointers_in_);
    std::fill(body_in, body_in + n_x_ + n_c_ + n_cap_ + 1, nullptr);
    std::copy_n(from, n_cap_, body_in + n_x_ + n_c_);
    RunContext inner = context;
    body_->derive(body_in, static_cast<std::byte*>(to), scratch + arena_, inner);
  }
  void use_derived() override {
    derived_elsewhere_ = true;
    scratch_ = derived_;
  }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    auto* scratch = static_cast<std::byte*>(context.scratch);
    auto** body_in = reinterpret_cast<const void**>(scratch + pointers_in_);
    auto** body_out = reinterpret_cast<void**>(scratch + pointers_out_);
    auto* step = reinterpret_cast<int64_t*>(scratch + step_);
    for (size_t i = 0; i < n_c_; ++i)
      if (carry_bytes_[i]) std::memcpy(carry(i, 0, out, scratch), in[n_x_ + i], carry_bytes_[i]);
    for (size_t i = 0; i < n_cap_; ++i) body_in[n_x_ + n_c_ + i] = in[n_x_ + n_c_ + i];
    body_in[n_x_ + n_c_ + n_cap_] = step;
    RunContext inner = context;
    // Once for all steps: captures do not change between them.
    const auto* derived = derived_elsewhere_
                              ? static_cast<const std::byte*>(in[n_x_ + n_c_ + n_cap_])
                              : scratch + derived_;
    if (body_->derived_bytes() && !derived_elsewhere_)
      body_->derive(body_in, scratch + derived_, scratch + arena_, inner);
    for (size_t t = 0; t < length_; ++t) {
      *step = static_cast<int64_t>(t);
      for (size_t i = 0; i < n_x_; ++i) {
        const auto* sequence = static_cast<const std::byte*>(in[i]);
        if (xs_[i].direct()) {
          body_in[i] = sequence + xs_[i].position(t) * xs_[i].run;
        } else {
          xs_[i].read(sequence, t, scratch + xs_[i].buffer);
          body_in[i] = scratch + xs_[i].buffer;
        }
      }
      for (size_t i = 0; i < n_c_; ++i) {
        body_in[n_x_ + i] = carry(i, t, out, scratch);
        body_out[i] = carry(i, t + 1, out, scratch);
      }
      for (size_t k = 0; k < made_.size(); ++k) {
        const size_t i = made_[k];
        body_out[n_c_ + k] =
            ys_[i].direct() ? ys_[i].at(out[n_c_ + i], t) : scratch + ys_[i].buffer;
      }
      body_->run(body_in, body_out, derived, scratch + arena_, inner);
      for (size_t i : made_)
        if (!ys_[i].direct())
          ys_[i].write(static_cast<std::byte*>(out[n_c_ + i]), t, scratch + ys_[i].buffer);
    }
    for (size_t i = 0; i < n_c_; ++i)
      if (carry_bytes_[i]) std::memcpy(out[i], carry(i, length_, out, scratch), carry_bytes_[i]);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  /// The result in which a carry lives: it stacks the carry either before (shift 0) or after (shift 1) each step.
  struct Home {
    size_t y = kNone, shift = 0;
  };

  /// Marks captures as stable, since they do not change between steps. A result that is a carry is written in place,
  /// so the body need not return it.
  Graph prepared_body(const Graph& from) {
    Graph body = from;
    for (size_t i = n_x_ + n_c_; i + 1 < body.inputs.size(); ++i)
      body.stable.push_back(static_cast<uint32_t>(i));
    body.outputs.resize(n_c_);
    homes_.assign(n_c_, {});
    for (size_t i = 0; i < ys_.size(); ++i) {
      const ValueId v = from.outputs[n_c_ + i];
      const auto is_home = [&](size_t c) {
        return homes_[c].y == kNone && (from.inputs[n_x_ + c] == v || from.outputs[c] == v);
      };
      size_t c = 0;
      while (c < n_c_ && !is_home(c)) ++c;
      if (c < n_c_ && ys_[i].direct()) {
        homes_[c] = {i, from.inputs[n_x_ + c] == v ? size_t{0} : size_t{1}};
      } else {
        made_.push_back(i);
        body.outputs.push_back(v);
      }
    }
    return body;
  }

  /// Where a carry is before that step.
  std::byte* carry(size_t i, size_t step, void* const* out, std::byte* scratch) const {
    const Home& home = homes_[i];
    if (home.y != kNone && step >= home.shift && step - home.shift < length_)
      return ys_[home.y].at(out[n_c_ + home.y], step - home.shift);
    return scratch + carry_buffer_[step & 1][i];
  }

  std::shared_ptr<Executable> body_;
  size_t n_x_, n_c_, n_cap_, length_;
  std::vector<Slices> xs_, ys_;
  std::vector<size_t> made_;  // ys that the body makes
  std::vector<Home> homes_;   // of the carries
  bool derived_elsewhere_ = false;
  std::vector<size_t> carry_bytes_, carry_buffer_[2];
  size_t step_ = 0, pointers_in_ = 0, pointers_out_ = 0, arena_ = 0, derived_ = 0, scratch_ = 0;
};

}  // namespace

KernelPtr make_scan(const KernelCall& call) { return std::make_unique<ScanKernel>(call); }

}  // namespace horngate::native::kernels
