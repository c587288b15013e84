#include "ir/plain.h"

#include <atomic>

#include "ir/environment.h"

namespace horngate {

static std::atomic<bool>& plain() {
  static std::atomic<bool> value = environment_flag("HORNGATE_PLAIN");
  return value;
}

bool is_plain() { return plain(); }
void set_plain(bool value) { plain() = value; }

}  // namespace horngate
