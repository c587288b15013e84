// Warnings.
#include "ir/warn.h"

#include <mutex>

#include "ir/fork.h"

namespace horngate {
namespace {
constinit std::mutex mutex;
const AtFork at_fork{mutex, ForkOrder::last};
std::function<void(const std::string&)>& handler() {
  static auto* h = new std::function<void(const std::string&)>;
  return *h;
}
}  // namespace

void warn(const std::string& text) {
  std::function<void(const std::string&)> h;
  {
    std::lock_guard lock(mutex);
    h = handler();
  }
  if (h) h(text);
}

void set_warning_handler(std::function<void(const std::string&)> h) {
  std::lock_guard lock(mutex);
  handler() = std::move(h);
}

}  // namespace horngate
