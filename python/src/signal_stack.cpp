// A stack for signal handlers on threads that run the library. Python's handlers use it
// (SA_ONSTACK).
#include <csignal>
#include <cstdlib>

#include "function.h"

namespace horngate::python {
namespace {

constexpr size_t kBytes = size_t{1} << 16;  // the frame of a signal alone is 11 kB with AMX state

class SignalStack {
 public:
  SignalStack() {
    stack_t now = {};
    if (sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE))
      return;  // that of faulthandler, say
    memory_ = std::malloc(kBytes);
    if (!memory_) return;
    stack_t mine = {};
    mine.ss_sp = memory_;
    mine.ss_size = kBytes;
    if (sigaltstack(&mine, nullptr) != 0) {
      std::free(memory_);
      memory_ = nullptr;
    }
  }
  ~SignalStack() {
    if (!memory_) return;
    stack_t now = {};
    if (sigaltstack(nullptr, &now) != 0) return;
    if (now.ss_sp == memory_) {
      if (now.ss_flags & SS_ONSTACK) return;  // the thread ends in a handler: the memory is in use
      stack_t none = {};
      none.ss_flags = SS_DISABLE;
      sigaltstack(&none, nullptr);
    }
    std::free(memory_);
  }
  SignalStack(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
};

}  // namespace

void ensure_signal_stack() {
  thread_local const SignalStack stack;
  (void)stack;
}

}  // namespace horngate::python
