// C++ exceptions as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace horngate::python {

namespace nb = nanobind;

/// Sets the Python error for an exception of the library; rethrows any other.
void set_python_error(const std::exception_ptr& error);

/// For slots written with the C API: the body's result, or the given value with the Python error
/// set.
template <class F, class R = PyObject*>
R guarded(F&& body, R failed = nullptr) noexcept {
  try {
    return body();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const nb::builtin_exception& e) {
    PyErr_SetString(
        e.type() == nb::exception_type::index_error ? PyExc_IndexError : PyExc_TypeError, e.what());
  } catch (...) {
    try {
      set_python_error(std::current_exception());
    } catch (const std::exception& e) {
      PyErr_SetString(PyExc_RuntimeError, e.what());
    } catch (...) {
      PyErr_SetString(PyExc_RuntimeError, "an unknown C++ exception");
    }
  }
  return failed;
}

void init_errors();

}  // namespace horngate::python
