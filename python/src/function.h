// The callable that K.function gives.
#pragma once

#include <nanobind/nanobind.h>

namespace horngate::python {

/// Gives this thread a stack for signal handlers, if it has none. oneDNN's matrix products move the
/// stack pointer into memory of their own; Ctrl-C in the middle of one would write over what lies
/// below.
void ensure_signal_stack();

/// The time in which something of the library runs without the GIL.
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

/// Shows the warnings that calls on this thread left; throws when Python makes an error of one.
void show_warnings();

void init_function(nanobind::module_& m);

}  // namespace horngate::python
