// Warnings.
#include "plan/warn.h"

#include <mutex>

namespace horngate {
namespace {
std::mutex mutex;
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
