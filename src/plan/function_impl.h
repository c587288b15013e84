// FunctionImpl: a program with its cache of plans, and the path of a call through it.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <unordered_map>

#include "horngate/function.h"
#include "ir/interrupt.h"
#include "ir/to_graph.h"
#include "plan/plan.h"

namespace horngate {

class FunctionImpl final : PlanOwner {
 public:
  /// Runs on `engine`, or on the configured one if that is null.
  FunctionImpl(const Tensors& inputs, const Tensors& outputs, const Tensors& updates,
               std::string name, const Engine* engine = nullptr);
  Arrays call(std::span<const Array> inputs);
  size_t n_inputs() const { return inputs_.size(); }
  /// Whether this thread is in a call that updates the variable, and so holds its writers' lock.
  static bool is_updated_by_this_thread(const VariableState& variable);
  /// For tests and tools.
  size_t plan_count() const;
  size_t plans_made() const { return plans_made_; }
  const FunctionGraph& program() const { return program_; }
  /// For export: the program in the test phase with unknown dimensions, and what it is fed.
  const Graph& inference_graph() { return prepared(false); }
  bool takes_value(size_t input) const {
    return !inputs_[input].is_open && !inputs_[input].is_phase;
  }
  const std::string& input_name(size_t input) const { return inputs_[input].name; }

 private:
  struct Input {
    TensorType type;
    std::string name;
    bool is_phase = false;  // fed value of learning_phase()
    bool is_open = false;   // an empty tensor: what it is fed is ignored
    bool keyed = false;     // its integers decide shapes
  };
  struct Call;
  static Call& threads_call();
  using Key = std::vector<int64_t>;
  struct KeyHash {
    size_t operator()(const Key& k) const;
  };
  struct Cached {
    Key key;
    ForkMutex building;
    PlanRef plan;
    uint64_t used = 0;
  };
  void list_plans(std::vector<KeptPlan>& all) override;
  std::shared_ptr<const void> drop_plan(const void* plan) override;

  void check_count(size_t n) const;
  Array checked_feed(size_t i, const Array& a) const;
  void find_keyed_inputs();
  InputInts keyed_ints(const std::vector<Array>& feeds) const;
  const Graph& prepared(bool training);
  PlanRef plan_for(const Key& key, const std::vector<Array>& feeds, bool training);
  PlanRef next_plan(Plan& plan, Call& call);
  void commit(Call& call, const Plan& plan);
  std::vector<TensorType> program_types(const std::vector<Array>& feeds) const;
  /// True once, when there are so many shapes that a warning is due.
  bool note_shape(const Key& key);
  void warn_of_many_shapes() const;

  const Engine& engine() const { return engine_ ? *engine_ : current_engine(); }

  const std::string name_;
  const Engine* const engine_;
  std::vector<Input> inputs_;
  FunctionGraph program_;
  PlanContext context_;
  std::vector<uint32_t> lock_order_;     // variables by id
  std::vector<VariableState*> locked_;   // the variables themselves, in that order
  std::vector<uint32_t> updated_order_;  // numbers of updates, by id of their variable

  bool uses_phase_ = false;
  ForkMutex prepare_mutex_;
  std::unique_ptr<const Graph> prepared_[2];
  mutable LeafMutex plans_mutex_;
  std::list<std::shared_ptr<Cached>> plans_;  // most recently used first
  std::unordered_map<Key, std::list<std::shared_ptr<Cached>>::iterator, KeyHash> by_key_;
  size_t plans_made_ = 0;
  // The first shapes with a plan of their own, remembered after their plans are dropped.
  std::vector<Key> shapes_;
  OpenParts open_parts_;
  const PlanMembership membership_{*this};
};

/// Where lines of print_tensor go; standard error by default.
void set_print_handler(std::function<void(const std::string&)> handler);

/// Each variable once, in locking order.
std::vector<VariableState*> in_id_order(std::vector<VariableState*> variables);

/// Readers' locks of several variables, in the order of in_id_order.
class ReadLocks {
 public:
  explicit ReadLocks(const std::vector<VariableState*>& sorted) : sorted_(sorted) {
    for (VariableState* v : sorted_) v->guard.lock_shared();
  }
  ~ReadLocks() {
    for (VariableState* v : sorted_) v->guard.unlock_shared();
  }
  ReadLocks(const ReadLocks&) = delete;

 private:
  const std::vector<VariableState*>& sorted_;
};

/// Writers' locks of several variables at once, in id order.
class VariableLocks {
 public:
  explicit VariableLocks(std::vector<VariableState*> variables);
  ~VariableLocks();
  VariableLocks(const VariableLocks&) = delete;

 private:
  std::vector<VariableState*> variables_;
};

}  // namespace horngate
