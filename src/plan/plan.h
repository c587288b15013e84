// Plan: what a function does for one set of input shapes: compiled parts and how values pass between them.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engines/registry.h"
#include "ir/fork.h"
#include "passes/passes.h"
#include "plan/budget.h"
#include "plan/open_dims.h"

namespace horngate {

/// A compiled graph on an engine.
class Compiled {
 public:
  Compiled(const Engine& engine, const Graph& graph);
  ~Compiled();
  Compiled(const Compiled&) = delete;
  /// Throws what the engine reports.
  void run(const hg_buffer* const* in, hg_buffer* const* out, const hg_run* run) const;
  const Engine& engine() const { return engine_; }
  size_t bytes() const { return bytes_; }

 private:
  void check_outputs(const hg_buffer* const* out) const;

  const Engine& engine_;
  size_t bytes_;
  void* executable_ = nullptr;
  std::vector<size_t> out_bytes_;  // expected sizes of a plug-in's results
  mutable ForkMutex serial_;       // for engines that cannot run one executable on two threads
};

/// Number of a value in the table of a call: the program's inputs first, then what segments make.
using SlotId = uint32_t;

struct Segment {
  std::shared_ptr<const Compiled> compiled;  // may be shared with plans for other sizes
  std::vector<SlotId> in, out;
};

/// The shared part of all plans of a function.
struct PlanContext {
  size_t n_outputs = 0;  // of the function; the graph's other outputs are new values
  std::vector<uint32_t> updated_inputs;  // graph input that holds the old value of each new value
  std::vector<uint8_t>
      stable_inputs;  // per graph input: a variable that the function does not update
};

struct Plan {
  std::vector<TensorType> slots;       // types of all values in the table
  std::vector<hg_type> types;          // the same, as engines get them
  std::vector<hg_buffer> buffers;      // of these types, without memory
  std::vector<uint8_t> given;          // slots whose memory an engine supplies; empty: none
  const Engine* own_engine = nullptr;  // the engine, if it has memory of its own
  std::vector<uint8_t> own;  // slots that are made in the engine's own memory; empty: none
  std::vector<Segment> segments;
  /// Slots whose contents are known: shapes and numbers that graphs with open sizes take as inputs.
  std::vector<std::pair<SlotId, Array>> fixed;
  bool is_shared = false;  // it runs what was compiled for an earlier plan
  /// The part of the updates that runs in the commit and writes variables in place.
  std::unique_ptr<Compiled> commit;
  std::vector<SlotId> commit_in;
  std::vector<uint32_t> commit_updates;  // number of the update that each output of `commit` is
  std::vector<SlotId> outputs;           // where the function's outputs are
  std::vector<SlotId> updates;  // where the other new values are; kNoValue for those of `commit`

  /// Per result (`outputs`, or `crossing` if there is a rest): the first one in the same slot. Per update: whether an
  /// earlier result or update has the same slot.
  std::vector<uint32_t> first_of;
  std::vector<uint8_t> is_repeated;

  /// Set when shapes depend on data: the first `n_needed` slots in `crossing` hold the integers with which `rest` can
  /// be planned. Its inputs are those of the program, then `crossing`.
  GraphRef rest;
  std::vector<SlotId> crossing;
  size_t n_needed = 0;
  ForkMutex next_mutex;
  std::map<std::vector<int64_t>, std::shared_ptr<Plan>> next;

  PlanBytes bytes;
  /// Including all plans that may follow it.
  size_t total_bytes();
};
using PlanRef = std::shared_ptr<Plan>;

/// Plans a graph for these input types. `ints`: known values of small integer inputs. `parts`: what plans for other
/// sizes have compiled; if null, sizes are never left open.
PlanRef make_plan(const Graph& graph, const std::vector<TensorType>& inputs, const InputInts& ints,
                  const PlanContext& context, const Engine& engine, OpenParts* parts);

/// Parts of a static graph, in order, each for the engine or for native.
struct Part {
  Graph graph;  // inputs and outputs as lists of values of the whole
  std::vector<ValueId> in, out;
  bool on_engine;
};
struct Partition {
  Graph graph;  // the whole, perhaps decomposed: same inputs and outputs, other values
  std::vector<Part> parts;
};
Partition partition(const Graph& graph, const Engine& engine);
/// Whether an engine runs all nodes as they are; if not, `which` names one.
bool supports_all(const Graph& graph, const Engine& engine, std::string* which);

/// Replaces primitives that have both a kernel and a decomposition with the latter (HORNGATE_PLAIN).
Graph without_kernels(const Graph& graph);

}  // namespace horngate
