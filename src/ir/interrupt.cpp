#include "ir/interrupt.h"

#include <ctime>
#include <utility>

#include "horngate/error.h"

namespace horngate {
namespace {

constexpr int64_t kPeriod = 20;  // milliseconds

constinit thread_local const std::atomic<bool>* stop_flag = nullptr;
constinit thread_local int64_t next_check = 0;
std::atomic<int (*)()> interrupt_check{nullptr};

/// Milliseconds. Asked before every step, hence the coarse clock: it costs a quarter of the exact
/// one.
int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1000000;
}

}  // namespace

StopScope::StopScope(const std::atomic<bool>* stop) : before_(std::exchange(stop_flag, stop)) {}
StopScope::~StopScope() { stop_flag = before_; }
void set_interrupt_check(int (*check)()) { interrupt_check = check; }

bool may_be_stopped() { return stop_flag || interrupt_check.load(std::memory_order_relaxed); }

bool shall_stop() {
  if (stop_flag && stop_flag->load(std::memory_order_relaxed)) return true;
  int (*const check)() = interrupt_check.load(std::memory_order_relaxed);
  if (!check) return false;
  const int64_t at = now();
  if (at < next_check) return false;
  const bool is_first = next_check == 0;
  next_check = at + kPeriod;
  return !is_first && check() != 0;
}

void stop_now() {
  throw Interrupted("function: the call was interrupted; variables are as they were before it.");
}

LastChance::LastChance() : began_(interrupt_check.load(std::memory_order_relaxed) ? now() : 0) {}

void LastChance::stop_if_asked() const {
  if (stop_flag && stop_flag->load(std::memory_order_relaxed)) stop_now();
  if (began_ == 0 || now() == began_) return;
  int (*const check)() = interrupt_check.load(std::memory_order_relaxed);
  if (check && check() != 0) stop_now();
}

namespace detail {

constinit thread_local uint32_t polls = 0;

void poll() {
  if (shall_stop()) stop_now();
}

}  // namespace detail
}  // namespace horngate
