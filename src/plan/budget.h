// The process-wide budget of plans: how many bytes they may have, and which go first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/graph.h"

namespace horngate {

/// Counts as long as it lives.
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

/// Of all plans alive, about, with what they derived from variables and keep.
size_t plan_bytes();
/// HORNGATE_PLAN_BYTES, or 1 GiB.
size_t plan_budget();
void set_plan_budget(size_t bytes);

size_t graph_bytes(const Graph& graph);

/// Who keeps plans for later. Plans that run are held by their callers and outlive being dropped.
class PlanOwner {
 public:
  struct KeptPlan {
    uint64_t used;  // plan_time() of the last use
    size_t bytes;
    PlanOwner* owner;
    const void* plan;  // as the owner knows it
  };
  virtual void list_plans(std::vector<KeptPlan>& all) = 0;
  /// Returned, because what a plan holds must not be freed under a lock.
  virtual std::shared_ptr<const void> drop_plan(const void* plan) = 0;

 protected:
  ~PlanOwner() = default;

 private:
  friend class PlanMembership;
  friend void keep_plan_budget(const void* newest);
  PlanOwner *next_ = nullptr, **before_ = nullptr;  // in the list of all
};

/// As long as it lives, the owner may be asked. Its last member, so that all others are there.
class PlanMembership {
 public:
  explicit PlanMembership(PlanOwner& owner);
  ~PlanMembership();
  PlanMembership(const PlanMembership&) = delete;
  PlanMembership& operator=(const PlanMembership&) = delete;

 private:
  PlanOwner& owner_;
};

/// Goes on with each plan that is made.
uint64_t plan_time();
/// Drops the plans that were not used for the longest time until the budget holds; `newest` stays. No locks may be
/// held.
void keep_plan_budget(const void* newest);

}  // namespace horngate
