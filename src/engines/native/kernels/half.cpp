// float16 and bfloat16 for kernels that compute in float32.
#include "engines/native/kernels/half.h"

#include <vector>

#include "engines/native/fused/simd.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native {
namespace {

constexpr int64_t kGrain = 1 << 14;

bool is_half(DType t) { return t == DType::float16 || t == DType::bfloat16; }

/// Element by element, with the SIMD code of the fused groups.
void convert(fused::Kernel kernel, const void* from, size_t from_size, void* to, size_t to_size,
             int64_t n) {
  parallel_for(n, kGrain, [=](int64_t begin, int64_t end) {
    const auto first = static_cast<size_t>(begin);
    kernel(static_cast<char*>(to) + first * to_size,
           static_cast<const char*>(from) + first * from_size, nullptr, nullptr,
           static_cast<size_t>(end - begin), 0);
  });
}
void widen_all(DType dtype, const void* from, void* to, int64_t n) {
  convert(fused::kernels().load_of(dtype), from, size_of(dtype), to, sizeof(float), n);
}
void narrow_all(DType dtype, const void* from, void* to, int64_t n) {
  convert(fused::kernels().store_of(dtype), from, sizeof(float), to, size_of(dtype), n);
}

/// Where an operand or result lies in scratch while it is float32.
struct Converted {
  bool used = false;
  DType dtype = DType::float32;
  int64_t count = 0;
  size_t offset = 0;
};

class ThroughFloat final : public Kernel {
 public:
  ThroughFloat(const KernelCall& call, KernelFactory make) {
    std::vector<TensorType> in = convert(call.in, in_), out = convert(call.out, out_);
    KernelCall wide = call;
    wide.in = in;
    wide.out = out;
    inner_ = make(wide);
  }

  size_t scratch_bytes() const override { return bytes_ + inner_->scratch_bytes(); }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    char* scratch = static_cast<char*>(context.scratch);
    // The primitives that come here have few operands, and run must not allocate.
    const void* wide_in[kMaxOperands];
    void* wide_out[kMaxOperands];
    for (size_t i = 0; i < in_.size(); ++i) {
      wide_in[i] = in_[i].used ? scratch + in_[i].offset : in[i];
      if (in_[i].used) widen_all(in_[i].dtype, in[i], scratch + in_[i].offset, in_[i].count);
    }
    for (size_t i = 0; i < out_.size(); ++i)
      wide_out[i] = out_[i].used ? scratch + out_[i].offset : out[i];
    RunContext inner = context;
    inner.scratch = scratch + bytes_;
    inner_->run(wide_in, wide_out, inner);
    for (size_t i = 0; i < out_.size(); ++i)
      if (out_[i].used) narrow_all(out_[i].dtype, wide_out[i], out[i], out_[i].count);
  }

  static constexpr size_t kMaxOperands = 8;

 private:
  std::vector<TensorType> convert(std::span<const TensorType> types, std::vector<Converted>& to) {
    invariant(types.size() <= kMaxOperands, "too many operands for a conversion to float32");
    std::vector<TensorType> wide(types.begin(), types.end());
    for (TensorType& t : wide) {
      Converted c;
      if (is_half(t.dtype) && !t.sparse) {
        c = {true, t.dtype, t.shape.size(), bytes_};
        bytes_ += aligned_bytes(static_cast<size_t>(c.count) * sizeof(float));
        t.dtype = DType::float32;
      }
      to.push_back(c);
    }
    return wide;
  }

  std::vector<Converted> in_, out_;
  size_t bytes_ = 0;
  KernelPtr inner_;
};

}  // namespace

KernelPtr make_through_float(const KernelCall& call, KernelFactory make) {
  bool any = false;
  for (const TensorType& t : call.in) any = any || is_half(t.dtype);
  if (!any) return nullptr;
  return std::make_unique<ThroughFloat>(call, make);
}

}  // namespace horngate::native
