// Kernel: native code of one primitive, made once per plan for fixed shapes, run many times.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "horngate/engine.h"
#include "ir/graph.h"
#include "ir/primitive.h"

namespace horngate::native {

/// What a kernel is made for. All types are static; buffers are contiguous and row-major. Results are aligned to 64
/// bytes (in row chains only the whole result is), operands only to their element.
struct KernelCall {
  std::span<const TensorType> in;
  std::span<const TensorType> out;
  const Attrs* attrs = nullptr;
  std::span<const GraphRef> bodies;  // scan, cond
  template <class A>
  const A& as() const {
    return attrs_as<A>(attrs);
  }
};

/// One run of a plan, as kernels see it.
struct RunContext {
  void* scratch = nullptr;  // scratch_bytes() of this kernel, 64-byte aligned, contents undefined
  int64_t first = 0;  // elements of the whole result before this part of it; 0 except in row chains
  int (*stopped)(void* host) = nullptr;
  void (*log)(void* host, int level,
              const char* line) = nullptr;  // a line of print_tensor: level 0
  void* host = nullptr;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Must not allocate and must not throw except for bad data (an index out of range: ValueError that
  /// starts with the primitive's name).
  virtual void run(const void* const* in, void* const* out, RunContext& context) = 0;
  virtual size_t scratch_bytes() const { return 0; }
  /// An operand that the kernel first puts into another order: its size (0: it does not), doing it, and the notice
  /// that run() will get it in that form. pack() has scratch_bytes() of scratch.
  virtual size_t packed_bytes(size_t /*operand*/) const { return 0; }
  virtual void pack(size_t /*operand*/, const void* /*from*/, void* /*to*/, void* /*scratch*/) {}
  virtual void use_packed(size_t /*operand*/) {}
  /// What the kernel computes from some operands before anything else: its size (0: nothing), from which operands,
  /// doing it (with scratch_bytes() of scratch), and the notice that run() will get it as an additional last operand.
  virtual size_t derived_bytes() const { return 0; }
  virtual std::vector<size_t> derived_from() const { return {}; }
  virtual void derive(const void* const* /*from*/, void* /*to*/, RunContext& /*context*/) {}
  virtual void use_derived() {}
  /// Whether output o may share memory with operand i (same size, read before written).
  virtual bool can_alias(size_t /*in*/, size_t /*out*/) const { return false; }
};

using KernelPtr = std::unique_ptr<Kernel>;
using KernelFactory = KernelPtr (*)(const KernelCall&);

/// Each kernels/<primitive>.cpp defines `KernelPtr make_<primitive>(const KernelCall&)` in namespace
/// horngate::native::kernels; prims.def makes the table. nullptr if that primitive has no kernel.
KernelFactory find_kernel(Prim prim);

/// A sparse operand, as it comes from the host.
using SparseView = hg_sparse;

/// Makes a kernel from a callable (in, out, context).
template <class F>
KernelPtr kernel_of(F f, size_t scratch = 0) {
  struct Impl final : Kernel {
    Impl(F fn, size_t bytes) : fn_(std::move(fn)), bytes_(bytes) {}
    void run(const void* const* in, void* const* out, RunContext& c) override { fn_(in, out, c); }
    size_t scratch_bytes() const override { return bytes_; }
    F fn_;
    size_t bytes_;
  };
  return std::make_unique<Impl>(std::move(f), scratch);
}

}  // namespace horngate::native
