// Counts the threads that run plans, so that they share the pool instead of crowding the machine, and says whether
// their loops may be stopped (Ctrl-C).
#pragma once

namespace horngate::native {

struct CallerScope {
  explicit CallerScope(bool stoppable);
  ~CallerScope();
  CallerScope(const CallerScope&) = delete;

 private:
  const bool before_;
};

}  // namespace horngate::native
