// Taking the GIL where Python may be ending.
#pragma once

#include <Python.h>
#include <unistd.h>

namespace horngate::python {

/// Calls what takes the GIL. While Python ends, it ends other threads that ask for the GIL with pthread_exit (before 3.14),
/// whose way through our frames would abort the process: such a thread waits here for the end, as it does from 3.14 on.
template <class F>
auto take_gil(F&& take) {
  try {
    return take();
  } catch (...) {  // Python throws nothing: it is the thread's end
    for (;;) pause();
  }
}

/// While it lives, this thread has the GIL.
class Locked {
 public:
  Locked() : state_(take_gil([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace horngate::python
