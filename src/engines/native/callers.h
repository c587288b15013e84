// Counts the threads that run plans, so that they share the pool instead of crowding the machine.
#pragma once

namespace horngate::native {

struct CallerScope {
  CallerScope();
  ~CallerScope();
  CallerScope(const CallerScope&) = delete;
};

}  // namespace horngate::native
