// Session: a lowered graph that TensorFlow runs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "lower.h"

namespace horngate::tf {

/// A graph with its inputs and outputs, and the session that runs it.
class Program {
 public:
  Program() = default;
  explicit Program(const hg_graph& graph);
  /// The same as one function that XLA compiles.
  static std::unique_ptr<Program> with_xla(const Program& plain);

  struct Input {
    uint32_t number;  // among the graph's inputs
    Type type;
    Dims dims;
  };
  const std::vector<Input>& inputs() const { return inputs_; }
  size_t n_outputs() const { return fetches_.size(); }
  /// Fills `results`; throws what TensorFlow says. `stopped` is asked during runs that may be long.
  void run(CTensor* const* feeds, CTensor** results, const hg_run* run);

 private:
  using SessionRef = std::shared_ptr<CSession>;
  void add_inputs(const hg_graph& graph, Values& placed);
  void add_outputs(const Values& outputs);
  SessionRef session();
  void drop(const SessionRef& session);
  void run_watched(CTensor* const* feeds, CTensor** results, const hg_run& run);
  void call(CSession* session, CTensor* const* feeds, CTensor** results, Status& status) const;
  void check(const Status& status) const;

  Graph graph_;
  std::vector<Input> inputs_;
  Values values_, results_;  // inputs and outputs in the graph
  std::vector<COutput> feeds_, fetches_;
  std::mutex mutex_;
  SessionRef session_;
  std::atomic<bool> is_slow_{true};  // until a run was short
};

class Executable {
 public:
  explicit Executable(const hg_graph& graph);

  /// Feeds lie in the caller's memory; results are adopted by outputs without memory, copied into the others.
  void run(const hg_buffer* in, hg_buffer* out, const hg_run* run);

 private:
  void call(CTensor* const* feeds, CTensor** results, const hg_run* run);

  Program plain_;
  std::unique_ptr<Program> xla_;
  std::atomic<bool> use_xla_{false};
};

}  // namespace horngate::tf
