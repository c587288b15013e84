// Compiling a static graph to the steps of an executable. compiler.cpp lists the passes; the other files have them:
// compiler_group (element-wise groups), compiler_merge (several steps become one), compiler_early (what runs before
// the others), compiler_memory (where values lie), compiler_verify (whether all that is right).
#pragma once

#include <functional>

#include "engines/native/executable.h"
#include "engines/native/row_chain.h"
#include "engines/native/views.h"

namespace horngate::native {

class Executable::Compiler {
 public:
  Compiler(const Graph& graph, Executable& exe) : given_(graph), exe_(exe) {}

  void run();

 private:
  /// A fused group before it is made: merging may turn several into one step.
  struct PendingGroup {
    fused::Program program;
    std::vector<fused::MultiGroup::Set> sets;
    std::vector<bool> reduced;
  };
  /// Elements of a root's memory.
  struct Touch {
    ValueId root;
    fused::Access access;
    Ints extent;
    size_t item;  // bytes of an element
  };
  struct Phase {
    std::vector<Touch> reads, writes;
  };
  struct StepValues {
    std::vector<ValueId> in, out;
    std::vector<uint8_t> in_whole, out_whole;  // of a group: accessed element by element, in order
    size_t set_in = 1, set_out = 1;            // values per set of a merged group
    const GraphNode* node = nullptr;           // of a kernel
    std::vector<Phase> phases;  // for the verifier, of steps that do not touch all of their values
  };
  class GroupMaker;
  class Verifier;

  void choose_layout();
  void list_values();
  void place_inputs_and_constants();
  void fuse_nodes();
  void place_views();
  void make_steps();
  void make_kernel(const GraphNode& n, Step& step, StepValues& values);
  void make_group(const StepNodes& s, Step& step, StepValues& values, PendingGroup& group);
  void make_groups();

  /// An optimizer's update is the same program for every parameter: such groups become one step, which is shared
  /// out over the threads by elements. A group may join an earlier one when all that it reads is made before it.
  void merge_updates();
  /// Neighbouring steps over the same rows become one.
  void chain_rows();
  /// The step as part of a row chain, if it can be one.
  std::optional<RowMember> row_member(size_t s) const;
  /// From the first to the last step that writes or reads each root; all of them for what a call takes or gives.
  std::vector<std::pair<size_t, size_t>> find_uses() const;
  /// Roots that only the steps of the chain write and read.
  std::vector<ValueId> values_inside(const RowRange& chain,
                                     const std::vector<std::pair<size_t, size_t>>& used) const;
  /// What a member of a chain touches outside of the chain.
  static Phase phase_of(const RowMember& m, const std::vector<ValueId>& inside);
  void remove_steps(const std::vector<uint8_t>& gone);

  /// Values that depend on constants and stable inputs alone.
  void find_stable();
  bool is_stable(ValueId v) const { return v >= g_->values.size() || stable_[v]; }
  /// A kernel that packs an operand gets a stable one packed: an early step does it. So with all else that it would
  /// compute from stable operands in each run.
  void prepare_operands(Step& step, StepValues& values);
  ValueId add_early_step(KernelPtr kernel, std::string name, std::vector<ValueId> from,
                         size_t bytes);
  /// Steps that make stable values run once, before the others, and again only when an input has changed.
  void choose_early_steps();
  void move_to_front(const std::vector<uint8_t>& early);

  /// Of a value, or of a packed form of one, which is numbered behind the graph's values.
  size_t bytes_of(ValueId v) const {
    return v < g_->values.size() ? g_->values[v].nbytes() : packed_bytes_[v - g_->values.size()];
  }
  /// Values that are outputs live in the caller's memory from the start; what cannot (an input, a constant, a
  /// value asked for twice) is copied at the end.
  void place_outputs();
  /// The caller passes some outputs in the memory of inputs: those for which that is too early.
  std::vector<uint8_t> outputs_not_in_place() const;
  /// Sparse values between steps have buffers of their own.
  void place_sparse();
  void plan_memory();
  /// An operand in the arena that ends with this step and whose memory the result may have.
  ValueId find_donor(const Step& step, const StepValues& values, size_t o,
                     const std::function<bool(ValueId)>& is_free) const;
  /// May result o of a step be written into the memory of operand i?
  bool may_share(const Step& step, const StepValues& values, size_t i, size_t o) const;
  size_t scratch_of(const Step& step) const;
  void make_pointers();

  /// After each pass: nodes, then steps, read what earlier ones make, types are right, lists that belong together are
  /// equally long.
  void verify_steps(const char* pass) const;
  /// At the end: each byte that a step reads holds the value that it means.
  void verify_memory() const;

  const Graph& given_;
  std::optional<Graph> channels_last_;
  const Graph* g_ = &given_;  // what is compiled
  Executable& exe_;
  std::vector<StepNodes> steps_;   // which nodes run together
  std::vector<ValueId> alias_of_;  // the value whose memory it is
  std::vector<int32_t> maker_;     // the node that makes a value, or -1
  std::vector<uint8_t> stable_;
  std::vector<size_t> packed_bytes_;
  std::vector<Place> place_;
  std::vector<StepValues> values_;
  std::vector<PendingGroup> pending_;
  std::vector<Consumers> consumers_;
  std::vector<std::pair<size_t, size_t>> copies_;  // step, output
  Views views_;
};

}  // namespace horngate::native
