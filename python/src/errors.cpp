// C++ exceptions as Python exceptions.
#include "errors.h"

#include <new>

#include "horngate/error.h"

namespace horngate::python {

void set_python_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ValueError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const IndexError& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const NotImplementedError& e) {
    PyErr_SetString(PyExc_NotImplementedError, e.what());
  } catch (const Interrupted& e) {
    // The signal handler's own exception, when the interrupt check ran it, tells more.
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_KeyboardInterrupt, e.what());
  } catch (const Error& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
}

void init_errors() {
  nb::register_exception_translator(
      [](const std::exception_ptr& error, void*) { set_python_error(error); });
}

}  // namespace horngate::python
