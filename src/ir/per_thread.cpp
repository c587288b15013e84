// What threads free when they end.
#include "ir/per_thread.h"

#include <vector>

namespace horngate {
namespace {

struct Ending {
  void (*free)(void*);
  void* object;
};

thread_local bool is_over = false;

class Endings {
 public:
  ~Endings() {
    // What is freed may make others.
    while (!all_.empty()) {
      const Ending last = all_.back();
      all_.pop_back();
      last.free(last.object);
    }
    is_over = true;
  }
  void add(Ending e) { all_.push_back(e); }

 private:
  std::vector<Ending> all_;
};

}  // namespace

bool at_thread_end(void (*free)(void*), void* object) noexcept {
  if (is_over) return false;
  try {
    thread_local Endings endings;
    endings.add({free, object});
    return true;
  } catch (...) {  // no memory: it stays until the process ends
    return false;
  }
}

}  // namespace horngate
