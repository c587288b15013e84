// The callable that K.function gives.
#pragma once

#include <nanobind/nanobind.h>

namespace horngate::python {

/// Runs something of the library without the GIL; afterwards shows the warnings that came up.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() { PyEval_RestoreThread(state_); }
  Unlocked(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Shows the warnings that calls on this thread left; throws when Python makes an error of one.
void show_warnings();

void init_function(nanobind::module_& m);

}  // namespace horngate::python
