#include "ir/plain.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace horngate {

static std::atomic<bool>& plain() {
  static std::atomic<bool> value = [] {
    const char* text = std::getenv("HORNGATE_PLAIN");
    return text && *text && std::string_view(text) != "0";
  }();
  return value;
}

bool is_plain() { return plain(); }
void set_plain(bool value) { plain() = value; }

}  // namespace horngate
