// The callable that K.function returns.
#pragma once

#include <nanobind/nanobind.h>

namespace horngate::python {

/// Gives this thread a stack for signal handlers, if it has none. oneDNN's matrix products move the
/// stack pointer into their own memory; a signal handler in the middle of one would overwrite what
/// lies below.
void ensure_signal_stack();

/// While it lives, the library runs without the GIL.
class Unlocked {
 public:
  Unlocked() {
    ensure_signal_stack();
    state_ = PyEval_SaveThread();
  }
  ~Unlocked() { PyEval_RestoreThread(state_); }
  Unlocked(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Shows the warnings that calls on this thread left; throws if Python turns one into an error.
void show_warnings();

void init_function(nanobind::module_& m);

}  // namespace horngate::python
