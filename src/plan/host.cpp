// Stopping a call, Ctrl-C, lines of print_tensor.
#include "plan/host.h"

#include <cstdio>
#include <ctime>
#include <mutex>
#include <utility>

#include "plan/function_impl.h"

namespace horngate {
namespace {

thread_local const std::atomic<bool>* stop_flag = nullptr;
std::atomic<int (*)()> interrupt_check{nullptr};
std::mutex print_mutex;
std::function<void(const std::string&)>& print_handler() {
  static auto* h = new std::function<void(const std::string&)>;
  return *h;
}

}  // namespace

StopScope::StopScope(const std::atomic<bool>* stop) : before_(std::exchange(stop_flag, stop)) {}
StopScope::~StopScope() { stop_flag = before_; }
void set_interrupt_check(int (*check)()) { interrupt_check = check; }
void set_print_handler(std::function<void(const std::string&)> handler) {
  std::lock_guard lock(print_mutex);
  print_handler() = std::move(handler);
}

hg_run Host::control() {
  const bool may_stop = stop_flag || interrupt_check.load(std::memory_order_relaxed);
  return {sizeof(hg_run), may_stop ? stopped : nullptr, log, this, 0};
}

int64_t Host::now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1000000;
}

int Host::stopped(void* self) {
  if (stop_flag && stop_flag->load(std::memory_order_relaxed)) return 1;
  int (*const check)() = interrupt_check.load(std::memory_order_relaxed);
  if (!check) return 0;
  auto& host = *static_cast<Host*>(self);
  const int64_t at = now();
  if (at < host.next_check_) return 0;
  host.next_check_ = at + kPeriod;
  return check();
}

void Host::log(void* self, int, const char* text) {
  static_cast<Host*>(self)->lines_.emplace_back(text);
}

void Host::flush() {
  if (lines_.empty()) return;
  std::function<void(const std::string&)> handler;
  {
    std::lock_guard lock(print_mutex);
    handler = print_handler();
  }
  for (const std::string& line : lines_) {
    if (handler)
      handler(line);
    else
      std::fprintf(stderr, "%s\n", line.c_str());
  }
  lines_.clear();
}

}  // namespace horngate
