// Compiling a static graph to the steps of an executable. compiler.cpp lists the passes; the other files contain
// them: compiler_group (element-wise groups), compiler_merge (several steps become one), compiler_early (what runs
// before the others), compiler_memory (where values lie), compiler_verify (whether all that is right).
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
  /// A fused group that is not made yet: merging may turn several into one step.
  struct PendingGroup {
    fused::Program program;
    std::vector<fused::MultiGroup::Set> sets;
    std::vector<bool> reduced;
  };
  /// Which elements of a root's memory are accessed.
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
    std::vector<uint8_t> in_whole, out_whole;  // for a group: accessed element by element, in order
    size_t set_in = 1, set_out = 1;            // values per set of a merged group
    const GraphNode* node = nullptr;           // for a kernel
    std::vector<Phase> phases;  // for the verifier, if a step does not touch all of its values
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

  /// An optimizer's update is the same program for every parameter: such groups become one step, whose elements are
  /// spread over the threads. A group may join an earlier one if all that it reads is made before that.
  void merge_updates();
  /// Merges neighbouring steps over the same rows.
  void chain_rows();
  /// The step as part of a row chain, if it can be one.
  std::optional<RowMember> row_member(size_t s) const;
  /// The first and last step that writes or reads each root; the whole range for inputs and outputs.
  std::vector<std::pair<size_t, size_t>> find_uses() const;
  /// Roots that only the steps of the chain write and read.
  std::vector<ValueId> values_inside(const RowRange& chain,
                                     const std::vector<std::pair<size_t, size_t>>& used) const;
  /// What a member of a chain touches outside the chain.
  static Phase phase_of(const RowMember& m, const std::vector<ValueId>& inside);
  void remove_steps(const std::vector<uint8_t>& gone);

  /// Finds the values that depend only on constants and stable inputs.
  void find_stable();
  bool is_stable(ValueId v) const { return v >= g_->values.size() || stable_[v]; }
  /// If a kernel packs an operand and the operand is stable, an early step packs it instead. The same goes for
  /// anything else that the kernel would compute from stable operands in each run.
  void prepare_operands(Step& step, StepValues& values);
  ValueId add_early_step(KernelPtr kernel, std::string name, std::vector<ValueId> from,
                         size_t bytes);
  /// Steps that make stable values run once, before the others, and again only when an input has changed.
  void choose_early_steps();
  void move_to_front(const std::vector<uint8_t>& early);

  /// The size of a value, or of a packed form of one; those are numbered after the graph's values.
  size_t bytes_of(ValueId v) const {
    return v < g_->values.size() ? g_->values[v].nbytes() : packed_bytes_[v - g_->values.size()];
  }
  /// Outputs lie in the caller's memory from the start; those that cannot (an input, a constant, a value returned
  /// twice) are copied at the end.
  void place_outputs();
  /// The caller passes some outputs in the memory of inputs: marks those for which that would be too early.
  std::vector<uint8_t> outputs_not_in_place() const;
  /// Sparse values between steps get their own buffers.
  void place_sparse();
  void plan_memory();
  /// An operand in the arena that is last used in this step and whose memory the result may take.
  ValueId find_donor(const Step& step, const StepValues& values, size_t o,
                     const std::function<bool(ValueId)>& is_free) const;
  /// Whether result o of a step may be written into the memory of operand i.
  bool may_share(const Step& step, const StepValues& values, size_t i, size_t o) const;
  size_t scratch_of(const Step& step) const;
  void make_pointers();

  /// After each pass: nodes, and later steps, read what earlier ones make, types are right, and lists that belong
  /// together have equal lengths.
  void verify_steps(const char* pass) const;
  /// At the end: each byte that a step reads holds the value that the step expects.
  void verify_memory() const;

  const Graph& given_;
  std::optional<Graph> channels_last_;
  const Graph* g_ = &given_;  // the graph being compiled
  Executable& exe_;
  std::vector<StepNodes> steps_;   // which nodes run together
  std::vector<ValueId> alias_of_;  // the value in whose memory each value lies
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
