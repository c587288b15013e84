// cond: runs one of two compiled branches.
#include "engines/native/bodies.h"
#include "ir/align.h"

namespace horngate::native::kernels {
namespace {

class CondKernel final : public Kernel {
 public:
  explicit CondKernel(const KernelCall& call)
      : then_(compile_body(*call.bodies[0])),
        else_(compile_body(*call.bodies[1])),
        n_then_(call.bodies[0]->inputs.size()) {}

  size_t scratch_bytes() const override { return std::max(bytes_of(*then_), bytes_of(*else_)); }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    const bool condition = *static_cast<const bool*>(in[0]);
    RunContext inner = context;
    auto* arena = static_cast<std::byte*>(context.scratch);
    Executable& branch = condition ? *then_ : *else_;
    const void* const* operands = in + 1 + (condition ? 0 : n_then_);
    std::byte* derived = arena + arena_bytes(branch);
    branch.derive(operands, derived, arena, inner);
    branch.run(operands, out, derived, arena, inner);
  }

 private:
  static size_t arena_bytes(const Executable& e) { return aligned_bytes(e.arena_bytes()); }
  static size_t bytes_of(const Executable& e) { return arena_bytes(e) + e.derived_bytes(); }

  std::shared_ptr<Executable> then_, else_;
  size_t n_then_;
};

}  // namespace

KernelPtr make_cond(const KernelCall& call) { return std::make_unique<CondKernel>(call); }

}  // namespace horngate::native::kernels
