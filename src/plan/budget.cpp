#include "plan/budget.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "ir/environment.h"
#include "ir/fork.h"

namespace horngate {
namespace {

constexpr size_t kDefaultBudget = size_t{1} << 30;

std::atomic<size_t> bytes_alive{0};
std::atomic<uint64_t> time_now{1};

std::atomic<size_t>& budget() {
  static std::atomic<size_t> value = [] {
    const auto bytes = static_cast<size_t>(environment_count("HORNGATE_PLAN_BYTES"));
    return bytes ? bytes : kDefaultBudget;
  }();
  return value;
}

constinit std::mutex owners_mutex;
const AtFork at_fork{owners_mutex, ForkOrder::owners};
// Under the mutex. Never destroyed: functions of static duration may outlive anything.
PlanOwner* first_owner = nullptr;

}  // namespace

PlanBytes::~PlanBytes() { bytes_alive.fetch_sub(bytes_, std::memory_order_relaxed); }
void PlanBytes::set(size_t bytes) {
  bytes_alive.fetch_add(bytes - bytes_, std::memory_order_relaxed);
  bytes_ = bytes;
}

size_t plan_bytes() { return bytes_alive.load(std::memory_order_relaxed); }
size_t plan_budget() { return budget(); }
void set_plan_budget(size_t bytes) { budget() = bytes; }
uint64_t plan_time() { return time_now.load(std::memory_order_relaxed); }

size_t graph_bytes(const Graph& g) {
  return g.values.size() * sizeof(TensorType) + g.nodes.size() * sizeof(GraphNode);
}

PlanMembership::PlanMembership(PlanOwner& owner) : owner_(owner) {
  const std::lock_guard lock(owners_mutex);
  owner_.next_ = first_owner;
  if (first_owner) first_owner->before_ = &owner_.next_;
  owner_.before_ = &first_owner;
  first_owner = &owner_;
}
PlanMembership::~PlanMembership() {
  const std::lock_guard lock(owners_mutex);
  *owner_.before_ = owner_.next_;
  if (owner_.next_) owner_.next_->before_ = owner_.before_;
}

void keep_plan_budget(const void* newest) {
  time_now.fetch_add(1, std::memory_order_relaxed);
  size_t held = plan_bytes();
  if (held <= plan_budget()) return;
  std::vector<std::shared_ptr<const void>> dropped;  // freed outside the lock
  const std::lock_guard lock(owners_mutex);
  std::vector<PlanOwner::KeptPlan> kept;
  for (PlanOwner* owner = first_owner; owner; owner = owner->next_) owner->list_plans(kept);
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  // Free a little more than needed, so that the next plan need not search again.
  const size_t goal = plan_budget() - plan_budget() / 8;
  for (const PlanOwner::KeptPlan& k : kept) {
    if (held <= goal) break;
    if (k.plan == newest) continue;
    if (std::shared_ptr<const void> plan = k.owner->drop_plan(k.plan)) {
      dropped.push_back(std::move(plan));
      held -= std::min(held, k.bytes);
    }
  }
}

}  // namespace horngate
