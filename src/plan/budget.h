// The process-wide budget of plans: how many bytes they may take, and which go first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/graph.h"

namespace horngate {

/// A number of bytes that counts for as long as it lives.
class PlanBytes {
 public:
  PlanBytes() = default;
  ~PlanBytes();
  PlanBytes(const PlanBytes&) = delete;
  PlanBytes& operator=(const PlanBytes&) = delete;
  void set(size_t bytes);
  size_t get() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

/// The approximate size of all plans alive, including what they derived from variables and keep.
size_t plan_bytes();
/// HORNGATE_PLAN_BYTES, or 1 GiB.
size_t plan_budget();
void set_plan_budget(size_t bytes);

size_t graph_bytes(const Graph& graph);

/// Keeps plans for later use. A running plan is also held by its caller, so dropping it here does not free it.
class PlanOwner {
 public:
  struct KeptPlan {
    uint64_t used;  // plan_time() of the last use
    size_t bytes;
    PlanOwner* owner;
    const void* plan;  // an id that means something to the owner only
  };
  virtual void list_plans(std::vector<KeptPlan>& all) = 0;
  /// Returns the plan, because what it holds must not be freed under a lock.
  virtual std::shared_ptr<const void> drop_plan(const void* plan) = 0;

 protected:
  ~PlanOwner() = default;

 private:
  friend class PlanMembership;
  friend void keep_plan_budget(const void* newest);
  PlanOwner *next_ = nullptr, **before_ = nullptr;  // in the list of all
};

/// While it lives, the owner may be asked for its plans. Must be its last member, so that all others exist.
class PlanMembership {
 public:
  explicit PlanMembership(PlanOwner& owner);
  ~PlanMembership();
  PlanMembership(const PlanMembership&) = delete;
  PlanMembership& operator=(const PlanMembership&) = delete;

 private:
  PlanOwner& owner_;
};

/// Advances with each plan that is made.
uint64_t plan_time();
/// Drops the least recently used plans until the budget holds; `newest` stays. The caller must hold no locks.
void keep_plan_budget(const void* newest);

}  // namespace horngate
