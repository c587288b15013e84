// cond: runs one of two compiled branches.
#include "engines/native/bodies.h"

namespace horngate::native::kernels {
namespace {

class CondKernel final : public Kernel {
 public:
  explicit CondKernel(const KernelCall& call)
      : then_(compile_body(*call.bodies[0])),
        else_(compile_body(*call.bodies[1])),
        n_then_(call.bodies[0]->inputs.size()) {}

  size_t scratch_bytes() const override {
    return std::max(then_->arena_bytes(), else_->arena_bytes());
  }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    const bool condition = *static_cast<const bool*>(in[0]);
    RunContext inner = context;
    auto* arena = static_cast<std::byte*>(context.scratch);
    if (condition)
      then_->run(in + 1, out, arena, inner);
    else
      else_->run(in + 1 + n_then_, out, arena, inner);
  }

 private:
  std::shared_ptr<Executable> then_, else_;
  size_t n_then_;
};

}  // namespace

KernelPtr make_cond(const KernelCall& call) { return std::make_unique<CondKernel>(call); }

}  // namespace horngate::native::kernels
