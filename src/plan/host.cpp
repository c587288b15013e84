// What engines ask during a run; lines of print_tensor.
#include "plan/host.h"

#include <cstdio>
#include <mutex>
#include <utility>

#include "ir/fork.h"
#include "ir/interrupt.h"
#include "plan/function_impl.h"

namespace horngate {
namespace {

constinit std::mutex print_mutex;
const AtFork at_fork{print_mutex, ForkOrder::last};
std::function<void(const std::string&)>& print_handler() {
  static auto* h = new std::function<void(const std::string&)>;
  return *h;
}

}  // namespace

void set_print_handler(std::function<void(const std::string&)> handler) {
  std::lock_guard lock(print_mutex);
  print_handler() = std::move(handler);
}

hg_run Host::control() {
  return {sizeof(hg_run), 0, may_be_stopped() ? stopped : nullptr, log, this};
}

int Host::stopped(void*) { return shall_stop(); }

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
  // If a handler throws, the lines after that one are dropped.
  const std::vector<std::string> lines = std::exchange(lines_, {});
  for (const std::string& line : lines) {
    if (handler)
      handler(line);
    else
      std::fprintf(stderr, "%s\n", line.c_str());
  }
}

}  // namespace horngate
