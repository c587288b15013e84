// Warnings and other lines.
#include "ir/warn.h"

#include <atomic>
#include <cstdio>
#include <mutex>

#include "ir/fork.h"

namespace horngate {
namespace {

constinit std::mutex mutex;
const AtFork at_fork{mutex, ForkOrder::last};

struct Handlers {
  LogHandler log;
  std::function<void(const std::string&)> warning;
};
std::atomic<void (*)()> teller{nullptr};
Handlers& handlers() {
  static auto* h = new Handlers;
  return *h;
}

/// A copy, so that no lock is held while it runs.
Handlers current() {
  std::lock_guard lock(mutex);
  return handlers();
}

}  // namespace

void warn(const std::string& text) {
  const Handlers h = current();
  if (h.log)
    h.log(LogLevel::warning, text);
  else if (h.warning)
    h.warning(text);
  else
    std::fprintf(stderr, "warning: %s\n", text.c_str());
}

void tell_warnings() {
  if (const auto tell = teller.load(std::memory_order_relaxed)) tell();
}

void inform(const std::string& line) {
  const Handlers h = current();
  if (h.log)
    h.log(LogLevel::info, line);
  else
    std::fprintf(stderr, "%s\n", line.c_str());
}

void set_warning_handler(std::function<void(const std::string&)> handler, void (*tell)()) {
  std::lock_guard lock(mutex);
  handlers().warning = std::move(handler);
  teller = tell;
}

void set_log_handler(LogHandler handler) {
  std::lock_guard lock(mutex);
  handlers().log = std::move(handler);
}

}  // namespace horngate
