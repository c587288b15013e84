// The axes of a batch normalisation, and how its sums are cut into blocks.
#include "engines/native/kernels/norm.h"

#include <vector>

#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native {

namespace kernels {
KernelPtr make_transpose(const KernelCall& call);
}

namespace {

// A block is read twice and should still be in the second-level cache the second time.
constexpr int64_t kBlockElements = 1 << 15;
constexpr int64_t kTile = 512;       // columns of a block
constexpr int64_t kLeastRows = 64;   // so that partial results stay few
constexpr int64_t kMostRows = 1024;  // so that rounding in a column's sum stays small

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

void set_cut(NormShape& s) {
  if (s.by_columns()) {
    s.tile = std::min(s.k1, kTile);
    s.tiles = ceil_div(s.k1, s.tile);
    s.step_0 = std::clamp(kBlockElements / s.tile, kLeastRows, kMostRows);
    s.step_1 = 1;
  } else {
    s.step_1 = std::min(s.r1, kBlockElements);
    s.step_0 = std::max<int64_t>(1, kBlockElements / std::max<int64_t>(1, s.r1));
  }
  s.cuts_0 = ceil_div(s.r0, s.step_0);
  s.cuts_1 = s.r1 == 0 ? 0 : ceil_div(s.r1, s.step_1);
}

bool is_reduced(const Ints& axes, size_t i) {
  return std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
}

}  // namespace

int64_t NormShape::count(int64_t b) const {
  const int64_t rows = std::min(step_0, r0 - b / cuts_1 * step_0);
  return rows * std::min(step_1, r1 - b % cuts_1 * step_1);
}

NormBlock NormShape::block(int64_t index) const {
  NormBlock n;
  int64_t k, b, c;
  if (by_columns()) {
    c = index % tiles * tile;
    b = index / tiles % depth();
    k = index / tiles / depth();
    n.width = std::min(tile, k1 - c);
    n.stride = k1;
  } else {
    b = index % depth();
    c = index / depth() % k1;
    k = index / depth() / k1;
    n.width = std::min(step_1, r1 - b % cuts_1 * step_1);
    n.stride = k1 * r1;
  }
  const int64_t row = b / cuts_1 * step_0;
  n.rows = std::min(step_0, r0 - row);
  n.offset = ((k * r0 + row) * k1 + c) * r1 + b % cuts_1 * step_1;
  n.channel = k * k1 + c;
  n.partial = (k * depth() + b) * k1 + c;
  return n;
}

int64_t NormShape::grain() const {
  const int64_t elements = channels() * count() / std::max<int64_t>(1, blocks());
  return kernels::grain_for(elements * static_cast<int64_t>(sizeof(float)));
}

std::optional<NormShape> norm_shape(const Shape& x, const Ints& axes) {
  NormShape s;
  int64_t* const groups[] = {&s.k0, &s.r0, &s.k1, &s.r1};
  size_t at = 0;
  for (size_t i = 0; i < x.ndim(); ++i) {
    if (x.dim(i) == 1) continue;
    const bool reduced = is_reduced(axes, i);
    if (reduced != (at % 2 == 1)) ++at;
    if (at >= 4) return std::nullopt;
    *groups[at] *= x.dim(i);
  }
  if (s.k1 == 1) {
    s.r1 *= s.r0;  // consecutive elements
    s.r0 = 1;
  }
  set_cut(s);
  return s;
}

namespace {

/// An operand or result: itself, or its transposed copy in scratch.
struct Turned {
  KernelPtr transpose;
  size_t offset = 0;
};

class TransposedNorm final : public Kernel {
 public:
  TransposedNorm(const KernelCall& call, const Ints& axes, const AttrRef& attrs,
                 KernelFactory make) {
    const Shape& x = call.in[0].shape;
    Ints perm, dims;
    for (const bool reduced : {false, true})
      for (size_t i = 0; i < x.ndim(); ++i)
        if (is_reduced(axes, i) == reduced) perm.push_back(static_cast<int64_t>(i));
    Ints inverse(perm.size(), 0);
    for (size_t i = 0; i < perm.size(); ++i) {
      dims.push_back(x.dim(static_cast<size_t>(perm[i])));
      inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    }
    const Shape turned(dims);
    const auto turn = [&](const TensorType& t, const Ints& by, bool is_result) {
      Turned r;
      if (t.shape != x) return r;
      const TensorType inside(t.dtype, turned);
      const AttrRef attributes(new AttrsOf<attrs::transpose>(attrs::transpose{.perm = by}));
      const TensorType &from = is_result ? inside : t, &to = is_result ? t : inside;
      r.transpose = kernels::make_transpose({{&from, 1}, {&to, 1}, attributes.get(), {}});
      r.offset = bytes_;
      bytes_ += aligned_bytes(static_cast<size_t>(x.size()) * size_of(t.dtype));
      inner_bytes_ = std::max(inner_bytes_, r.transpose->scratch_bytes());
      return r;
    };
    std::vector<TensorType> in(call.in.begin(), call.in.end()),
        out(call.out.begin(), call.out.end());
    for (TensorType& t : in) {
      in_.push_back(turn(t, perm, false));
      if (in_.back().transpose) t.shape = turned;
    }
    for (TensorType& t : out) {
      out_.push_back(turn(t, inverse, true));
      if (out_.back().transpose) t.shape = turned;
    }
    inner_ = make({in, out, attrs.get(), {}});
    inner_bytes_ = std::max(inner_bytes_, inner_->scratch_bytes());
  }

  size_t scratch_bytes() const override { return bytes_ + inner_bytes_; }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    constexpr size_t kMost = 8;
    const void* from[kMost];
    void* to[kMost];
    char* scratch = static_cast<char*>(context.scratch);
    RunContext inner = context;
    inner.scratch = scratch + bytes_;
    for (size_t i = 0; i < in_.size(); ++i) {
      from[i] = in[i];
      if (!in_[i].transpose) continue;
      void* copy = scratch + in_[i].offset;
      in_[i].transpose->run(&in[i], &copy, inner);
      from[i] = copy;
    }
    for (size_t i = 0; i < out_.size(); ++i)
      to[i] = out_[i].transpose ? scratch + out_[i].offset : out[i];
    inner_->run(from, to, inner);
    for (size_t i = 0; i < out_.size(); ++i)
      if (out_[i].transpose) {
        const void* copy = to[i];
        out_[i].transpose->run(&copy, &out[i], inner);
      }
  }

 private:
  std::vector<Turned> in_, out_;
  KernelPtr inner_;
  size_t bytes_ = 0, inner_bytes_ = 0;
};

}  // namespace

KernelPtr make_transposed_norm(const KernelCall& call, const Ints& axes, const AttrRef& attrs,
                               KernelFactory make) {
  return std::make_unique<TransposedNorm>(call, axes, attrs, make);
}

}  // namespace horngate::native
