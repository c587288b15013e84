// What threads free when they end.
#include "ir/per_thread.h"

#include <pthread.h>

#include <memory>
#include <utility>
#include <vector>

namespace horngate {
namespace {

struct Ending {
  void (*free)(void*);
  void* object;
};

void end(std::vector<Ending>& all) {
  while (!all.empty()) {  // what is freed may make others
    const Ending last = all.back();
    all.pop_back();
    last.free(last.object);
  }
}

thread_local bool is_over = false;

struct Endings {
  ~Endings() {
    end(all);
    is_over = true;
  }
  std::vector<Ending> all;
};

/// Objects that destructors of other thread_locals make after that. A pthread key frees them when all thread_locals are
/// gone; on the main thread nobody does.
bool add_late(Ending e) {
  using Late = std::vector<Ending>;
  static const auto key = [] {
    std::pair<pthread_key_t, bool> made = {};
    made.second = pthread_key_create(&made.first, [](void* value) {
                    const std::unique_ptr<Late> all(static_cast<Late*>(value));
                    end(*all);
                  }) == 0;
    return made;
  }();
  if (!key.second) return false;
  if (auto* all = static_cast<Late*>(pthread_getspecific(key.first))) {
    all->push_back(e);
    return true;
  }
  auto all = std::make_unique<Late>(1, e);
  if (pthread_setspecific(key.first, all.get()) != 0) return false;
  (void)all.release();
  return true;
}

}  // namespace

bool at_thread_end(void (*free)(void*), void* object) noexcept {
  try {
    if (is_over) return add_late({free, object});
    thread_local Endings endings;
    endings.all.push_back({free, object});
    return true;
  } catch (...) {  // no memory: it stays until the process ends
    return false;
  }
}

}  // namespace horngate
