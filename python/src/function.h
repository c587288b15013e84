// The callable that K.function returns.
#pragma once

#include <nanobind/nanobind.h>

#include "gil.h"
#include "horngate/function.h"

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
  ~Unlocked() {
    take_gil([&] { PyEval_RestoreThread(state_); });
  }
  Unlocked(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Shows the warnings that calls on this thread left; throws if Python turns one into an error.
void show_warnings();

/// What a function was made of, without outputs that are only fetched.
struct FunctionParts {
  Tensors inputs, outputs;
  std::vector<Update> updates;
};
/// TypeError, in the name of `who`, if the object is no result of K.function.
FunctionParts parts_of(nanobind::handle object, const char* who);

void init_function(nanobind::module_& m);
void bind_plot(nanobind::module_& m);

}  // namespace horngate::python
