// Session: a lowered graph that TensorFlow runs.
#pragma once

#include <atomic>
#include <memory>

#include "lower.h"

namespace horngate::tf {

/// A graph with its inputs and outputs, and the session that runs it.
class Session {
 public:
  Session() = default;
  /// `may_stop`: a run can be ended early.
  Session(const hg_graph& graph, bool may_stop);
  ~Session();
  Session(const Session&) = delete;
  /// The same as a single function that XLA compiles; `plain` must be one that cannot be stopped.
  static std::unique_ptr<Session> with_xla(const Session& plain);

  struct Input {
    uint32_t number;  // among the graph's inputs
    Type type;
    Dims dims;
  };
  const std::vector<Input>& inputs() const { return inputs_; }
  /// How many tensors a run is fed: the inputs, and the stop if there is one.
  size_t n_feeds() const { return feeds_.size(); }
  size_t n_outputs() const { return fetches_.size(); }
  size_t bytes() const { return graph_.bytes(); }
  /// Fills `results`; throws what TensorFlow reports. Runs that may be long are watched.
  void run(CTensor** feeds, CTensor** results, const hg_run* run);

 private:
  void add_inputs(const hg_graph& graph, Values& placed);
  void add_outputs(const Values& outputs);
  void open();
  void call(CTensor* const* feeds, CTensor** results, Status& status) const;
  void call_watched(CTensor* const* feeds, CTensor** results, Status& status, int32_t& stop,
                    const hg_run& run) const;
  void check(const Status& status) const;

  Graph graph_;
  std::vector<Input> inputs_;
  Values values_, results_;  // inputs and outputs in the graph
  std::vector<COutput> feeds_, fetches_;
  CSession* session_ = nullptr;
  std::atomic<bool> is_slow_{true};  // until a run was short
};

class Executable {
 public:
  explicit Executable(const hg_graph& graph);

  /// Feeds lie in the caller's memory; outputs without memory adopt their results, others get a copy.
  void run(const hg_buffer* const* in, hg_buffer* const* out, const hg_run* run);
  size_t bytes() const { return plain_.bytes() + (xla_ ? xla_->bytes() : 0); }

 private:
  void call(CTensor** feeds, CTensor** results, const hg_run* run);

  Session plain_;
  std::unique_ptr<Session> xla_;
  std::atomic<bool> use_xla_{false};
};

}  // namespace horngate::tf
