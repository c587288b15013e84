// C++ exceptions as Python exceptions.
#include "errors.h"

#include <new>

#include "horngate/error.h"
#include "text.h"

namespace horngate::python {
namespace {

// For a text that is not UTF-8, PyErr_SetString would raise a UnicodeDecodeError instead.
void set(PyObject* type, const char* text) {
  PyObject* value = readable(text);
  if (value) PyErr_SetObject(type, value);
  Py_XDECREF(value);
}

}  // namespace

void set_python_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ValueError& e) {
    set(PyExc_ValueError, e.what());
  } catch (const TypeError& e) {
    set(PyExc_TypeError, e.what());
  } catch (const IndexError& e) {
    set(PyExc_IndexError, e.what());
  } catch (const NotImplementedError& e) {
    set(PyExc_NotImplementedError, e.what());
  } catch (const Interrupted& e) {
    // If the interrupt check ran the signal handler, the handler's own exception says more.
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_KeyboardInterrupt, e.what());
  } catch (const Error& e) {
    set(PyExc_RuntimeError, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
}

void init_errors() {
  nb::register_exception_translator(
      [](const std::exception_ptr& error, void*) { set_python_error(error); });
}

}  // namespace horngate::python
