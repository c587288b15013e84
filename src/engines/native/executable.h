// Executable: a compiled static graph. Steps run in order over one arena; nothing is allocated while it runs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engines/native/fuse.h"
#include "engines/native/fused/group.h"
#include "engines/native/sparse.h"
#include "ir/fork.h"
#include "ir/profile.h"

namespace horngate::native {

class Executable {
 public:
  explicit Executable(const Graph& graph);
  ~Executable();

  /// Pointers in the order of the graph's inputs and outputs; that of a sparse output comes from a SparseBuffer.
  /// `arena` has arena_bytes(); `derived` holds what derive() made from the same stable inputs.
  void run(const void* const* in, void* const* out, const std::byte* derived, std::byte* arena,
           RunContext& context);
  /// Computes what depends only on stable inputs into `derived`, which has derived_bytes().
  void derive(const void* const* in, std::byte* derived, std::byte* arena, RunContext& context);
  size_t arena_bytes() const { return arena_bytes_; }
  size_t derived_bytes() const { return derived_bytes_; }
  /// Numbers of the inputs that `derived` depends on.
  const std::vector<uint32_t>& stable_inputs() const { return stable_inputs_; }
  size_t n_inputs() const { return n_inputs_; }
  size_t n_outputs() const { return n_outputs_; }
  /// "step 3: fused(add, mul, exp)  [arena 4096..8192]" per line.
  std::string describe() const;

 private:
  /// Where the memory of a value is.
  struct Place {
    enum Kind : uint8_t { nowhere, input, output, arena, derived, constant, sparse } kind = nowhere;
    size_t at =
        0;  // number of the input, output, constant or sparse buffer; offset in arena or derived
  };
  struct Step {
    KernelPtr kernel;                         // either this
    std::unique_ptr<fused::Group> group;      // or this
    std::unique_ptr<fused::MultiGroup> many;  // or this: one program over many sets of arrays
    uint32_t first = 0, n_in = 0, n_out = 0;  // its pointers in the frame: operands, then results
    size_t scratch = 0;                       // offset in the arena
    std::string name;
    NodeName node;       // for errors and profiles
    profile::Work work;  // for profiles
    bool has_bodies = false;
  };
  /// The pointers of one run. Kept between runs: while the arena stays the same, only inputs and outputs change.
  struct Frame {
    std::vector<void*> pointers;
    std::vector<SparseBuffer> sparse;  // not in the arena: the run decides their sizes
    std::byte *arena = nullptr, *derived = nullptr;
    std::unique_ptr<Frame> next;  // in the list of idle ones
  };
  struct PointerSource {
    uint32_t pointer;
    Place place;
  };
  class Compiler;

  void compile(const Graph& graph);
  void run_steps(size_t begin, size_t end, const void* const* in, void* const* out,
                 std::byte* derived, std::byte* arena, RunContext& context);
  static void run_step(const Step& step, void** pointers, std::byte* arena, RunContext& context);
  static void run_kernel(const Step& step, void** pointers, RunContext& context);
  std::unique_ptr<Frame> take_frame();
  void give_frame(std::unique_ptr<Frame> frame);

  const size_t n_inputs_, n_outputs_;
  const std::vector<uint32_t> stable_inputs_;
  std::vector<Step> steps_;
  size_t n_early_ = 0;  // the first steps: those of derive()
  std::vector<Array> constants_;
  std::vector<PointerSource> fixed_;   // pointers into the arena, derived values and constants
  std::vector<PointerSource> moving_;  // inputs and outputs
  size_t n_pointers_ = 0, n_sparse_ = 0;
  size_t arena_bytes_ = 0, derived_bytes_ = 0;
  std::atomic<Frame*> spare_{nullptr};  // the frame that the next run takes without a lock
  LeafMutex frames_mutex_;
  std::unique_ptr<Frame> frames_;  // idle; a list, because giving back must not need memory
};

}  // namespace horngate::native
