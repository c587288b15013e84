// Text between Python and C++.
#include "text.h"

#include "stable_abi.h"

namespace horngate::python {
namespace {

std::string utf8_of(PyObject* string) {  // steals it; null means a Python error
  const nb::object held = nb::steal(string);
  if (!held.is_valid()) nb::raise_python_error();
  const nb::object bytes =
      nb::steal(PyUnicode_AsEncodedString(string, "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) nb::raise_python_error();
  return std::string(PyBytes_AS_STRING(bytes.ptr()),
                     static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
}

std::string type_of(nb::handle value) { return "an object of type " + type_name_of(value); }

}  // namespace

std::string repr_of(nb::handle value) {
  PyObject* text = PyObject_Repr(value.ptr());
  if (text || !PyErr_ExceptionMatches(PyExc_Exception)) return utf8_of(text);
  // An object that cannot be shown must not hide the actual problem.
  PyErr_Clear();
  return type_of(value);
}
std::string shown_of(nb::handle value) {
  std::string text = repr_of(value);
  return text.size() > 100 ? type_of(value) : text;
}
std::string type_name_of(nb::handle value) {
#ifdef Py_LIMITED_API
  // As tp_name has it, which the stable ABI does not show: with the module, but for classes written in Python.
  const nb::handle type = value.type();
  const std::string name = str_of(type.attr("__name__")), module = str_of(type.attr("__module__"));
  const bool is_class =
      PyType_GetFlags(reinterpret_cast<PyTypeObject*>(type.ptr())) & Py_TPFLAGS_HEAPTYPE;
  const bool is_ours = module == "horngate._horngate";
  return module == "builtins" || (is_class && !is_ours) ? name : module + "." + name;
#else
  return Py_TYPE(value.ptr())->tp_name;
#endif
}
std::string str_of(nb::handle value) { return utf8_of(PyObject_Str(value.ptr())); }

PyObject* readable(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                              "backslashreplace");
}

nb::object path_from(const std::string& path) {
  nb::object decoded = nb::steal(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
  if (!decoded.is_valid()) nb::raise_python_error();
  return decoded;
}

}  // namespace horngate::python
