// Settings: floatx, epsilon, image_data_format, the engine; and those of Keras, once it is loaded.
#include "horngate/config.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "call.h"
#include "errors.h"
#include "horngate/cpus.h"
#include "horngate/engines.h"
#include "sections.h"
#include "text.h"

namespace horngate::python {
namespace {

/// A setting of keras.backend.common and the object last seen there: as long as it is the same
/// object, nothing has changed.
struct KerasSetting {
  const char* name;
  void (*apply)(PyObject* value);
  PyObject* key = nullptr;
  PyObject* seen = nullptr;
};

KerasSetting keras_settings[] = {
    {"_FLOATX", [](PyObject* v) { set_floatx(nb::cast<std::string>(handle(v))); }},
    {"_EPSILON", [](PyObject* v) { set_epsilon(PyFloat_AsDouble(v)); }},
    {"_IMAGE_DATA_FORMAT",
     [](PyObject* v) { set_image_data_format(nb::cast<std::string>(handle(v))); }},
};

/// keras.backend.common, or null while Keras is not loaded. Borrowed.
PyObject* keras_common() {
  static PyObject* const name = PyUnicode_InternFromString("keras.backend.common");
  return PyDict_GetItem(PyImport_GetModuleDict(), name);
}

void apply_keras_settings(PyObject* common) {
  PyObject* values = PyModule_Check(common) ? PyModule_GetDict(common) : nullptr;
  if (!values) return;
  for (KerasSetting& s : keras_settings) {
    if (!s.key) s.key = PyUnicode_InternFromString(s.name);
    PyObject* value = PyDict_GetItem(values, s.key);
    if (!value || value == s.seen) continue;
    s.apply(value);
    Py_INCREF(value);
    Py_XDECREF(s.seen);
    s.seen = value;
  }
}

/// Sets it in Keras if that is loaded, and so the owner, else here.
void set_in_keras_or_here(const char* setter, handle value, void (*here)(handle)) {
  PyObject* common = keras_common();
  if (common && PyObject_HasAttrString(common, setter)) {
    handle(common).attr(setter)(value);
    sync_settings();
    return;
  }
  here(value);
}

}  // namespace

void sync_settings() {
  if (PyObject* common = keras_common()) [[unlikely]]
    apply_keras_settings(common);
}

void bind_config(nb::module_& m) {
  m.def("floatx", [] {
    sync_settings();
    return std::string(name_of(floatx()));
  });
  m.def("epsilon", [] {
    sync_settings();
    return epsilon();
  });
  m.def("image_data_format", [] {
    sync_settings();
    return std::string(name_of(image_data_format()));
  });
  m.def("set_floatx", [](Any value) {
    set_in_keras_or_here("set_floatx", value, [](handle v) { set_floatx(str_of(v)); });
  });
  m.def("set_epsilon", [](Any value) {
    set_in_keras_or_here("set_epsilon", value, [](handle v) {
      Call call("set_epsilon");
      set_epsilon(call.real(v, "e"));
    });
  });
  m.def("set_image_data_format", [](Any value) {
    set_in_keras_or_here("set_image_data_format", value,
                         [](handle v) { set_image_data_format(str_of(v)); });
  });
  m.def("normalize_data_format", [](Any value) {
    Call call("normalize_data_format");
    if (value.is_none()) return std::string(name_of(image_data_format()));
    std::string text = str_of(value);
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return std::string(name_of(data_format_from(text, call.function())));
  });
  m.def("backend", &backend);
  m.def("engine_source", [] { return path_from(engine_choice().source); });
  m.def("set_engine", [](const std::string& name) { set_engine(name); });
  m.def("set_quiet", &set_quiet);
  m.def("keras_home", [] { return path_from(keras_home()); });
  m.def("announce_chosen_engine", &announce_chosen_engine);
  m.def("list_engines", [] {
    nb::list out;
    for (const EngineInfo& e : list_engines()) {
      nb::dict row;
      row["name"] = e.name;
      row["version"] = e.version;
      row["where"] = path_from(e.where);
      row["plugin"] = path_from(e.path);
      row["problem"] = nb::steal(readable(e.problem));
      row["absent"] = e.absent;
      out.append(row);
    }
    return out;
  });
  m.def("cpu_limits", [] {
    const CpuLimits limits = cpu_limits();
    nb::dict found;
    found["allowed"] = limits.allowed;
    found["quota"] = limits.quota;
    found["threads"] = limits.threads;
    return found;
  });
  m.attr("version") = HORNGATE_VERSION;
}

}  // namespace horngate::python
