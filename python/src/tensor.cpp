// The Python types Tensor and Variable: lifetime, attributes, text.
#include "tensor.h"

#include <structmember.h>

#include <cstddef>
#include <string>
#include <vector>

#include "call.h"
#include "errors.h"
#include "horngate/hooks.h"
#include "horngate/ops/variables.h"

namespace horngate::python {

PyTypeObject* tensor_type = nullptr;
PyTypeObject* variable_type = nullptr;

namespace {

thread_local int steps = 0;

PyTensor* self_of(PyObject* object) { return reinterpret_cast<PyTensor*>(object); }

PyTensor* find_wrapper(const Tensor& tensor) {
  auto* w = static_cast<PyTensor*>(hooks::wrapper_slot(tensor));
  while (w && w->tensor.index() != tensor.index()) w = w->sibling;
  return w;
}

/// Takes the wrapper out of its node's list. Harmless if it is not there.
void unlink(PyTensor* self) {
  void*& slot = hooks::wrapper_slot(self->tensor);
  auto* w = static_cast<PyTensor*>(slot);
  if (w == self) {
    slot = self->sibling;
    return;
  }
  while (w && w->sibling != self) w = w->sibling;
  if (w) w->sibling = self->sibling;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  PyTensor* self = self_of(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->dict);
  Py_VISIT(self->arguments);
  Py_VISIT(self->keras_shape);
  return 0;
}

int clear(PyObject* object) {
  PyTensor* self = self_of(object);
  Py_CLEAR(self->dict);
  Py_CLEAR(self->arguments);
  Py_CLEAR(self->keras_shape);
  return 0;
}

void dealloc(PyObject* object) {
  PyTensor* self = self_of(object);
  PyObject_GC_UnTrack(object);
  // Before the trashcan may delay the rest: nobody should find a dying wrapper through its node.
  unlink(self);
  Py_TRASHCAN_BEGIN(object, dealloc) if (self->weak_references) PyObject_ClearWeakRefs(object);
  clear(object);
  self->tensor.~Tensor();
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_Del(object);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

PyObject* repr(PyObject* object) {
  return guarded([&] {
    const std::string text = tensor_of(object).str();
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  });
}

PyObject* get_name(PyObject* object, void*) {
  return guarded([&] {
    const std::string name = tensor_of(object).name();
    return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  });
}

/// print(variable) shows its name, as on the Keras page.
PyObject* variable_str(PyObject* object) { return get_name(object, nullptr); }

PyObject* get_dtype(PyObject* object, void*) {
  static PyObject* names[kDTypeCount] = {};
  return guarded([&] {
    PyObject*& name = names[static_cast<int>(tensor_of(object).dtype())];
    if (!name) name = PyUnicode_InternFromString(name_of(tensor_of(object).dtype()));
    Py_XINCREF(name);
    return name;
  });
}

PyObject* get_shape(PyObject* object, void*) {
  return guarded([&] { return shape_tuple(tensor_of(object).shape()); });
}

PyObject* get_ndim(PyObject* object, void*) {
  return guarded([&] { return PyLong_FromSize_t(tensor_of(object).ndim()); });
}

bool is_hidden(const PyTensor* self) {
  return steps > 0 && self->uses_phase < 0 && !self->keras_shape && !is_variable(self->tensor) &&
         !is_placeholder(self->tensor) && !hooks::uses_learning_phase(self->tensor);
}

PyObject* raise_hidden(const char* name) {
  PyErr_Format(PyExc_AttributeError, "a tensor in a step of K.rnn has no attribute '%s'", name);
  return nullptr;
}

PyObject* get_keras_shape(PyObject* object, void*) {
  return guarded([&]() -> PyObject* {
    const PyTensor* self = self_of(object);
    return is_hidden(self) ? raise_hidden("_keras_shape") : merged_shape(object);
  });
}

/// Whole numbers stay, anything else counts as unknown; a value that is not a shape is ignored.
int set_keras_shape(PyObject* object, PyObject* value, void*) {
  PyTensor* self = self_of(object);
  Py_CLEAR(self->keras_shape);
  if (!value || value == Py_None) return 0;
  PyObject* assigned = PySequence_Tuple(value);
  if (!assigned) {
    PyErr_Clear();
    return 0;
  }
  PyObject* shape = PyTuple_New(PyTuple_GET_SIZE(assigned));
  for (Py_ssize_t i = 0; shape && i < PyTuple_GET_SIZE(assigned); ++i) {
    PyObject* dim = PyTuple_GET_ITEM(assigned, i);
    PyObject* number = PyIndex_Check(dim) ? PyNumber_Index(dim) : nullptr;
    PyErr_Clear();
    if (!number) {
      number = Py_None;
      Py_INCREF(number);
    }
    PyTuple_SET_ITEM(shape, i, number);
  }
  Py_DECREF(assigned);
  self->keras_shape = shape;
  return shape ? 0 : -1;
}

PyObject* get_uses_phase(PyObject* object, void*) {
  PyTensor* self = self_of(object);
  if (is_hidden(self)) return raise_hidden("_uses_learning_phase");
  if (self->uses_phase >= 0) return PyBool_FromLong(self->uses_phase);
  return PyBool_FromLong(hooks::uses_learning_phase(self->tensor));
}

int set_uses_phase(PyObject* object, PyObject* value, void*) {
  PyTensor* self = self_of(object);
  const int truth = value ? PyObject_IsTrue(value) : -1;
  if (value && truth < 0) return -1;
  self->uses_phase = static_cast<int8_t>(truth);
  return 0;
}

PyGetSetDef getset[] = {
    {"name", get_name, nullptr, "Name in the graph.", nullptr},
    {"dtype", get_dtype, nullptr, "Element type, as a string.", nullptr},
    {"shape", get_shape, nullptr, "Shape as known now, None where it is open.", nullptr},
    {"ndim", get_ndim, nullptr, "Number of axes.", nullptr},
    {"_keras_shape", get_keras_shape, set_keras_shape,
     "The shape; an assigned value only fills in for None.", nullptr},
    {"_uses_learning_phase", get_uses_phase, set_uses_phase,
     "Whether the value may depend on the learning phase.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyTypeObject* make_type(const char* name, const char* doc, PyTypeObject* base, reprfunc str) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_doc, const_cast<char*>(doc)},
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_repr, reinterpret_cast<void*>(repr)},
      {Py_tp_str, reinterpret_cast<void*>(str)},
      {Py_tp_getset, getset},
      {Py_tp_members, members},
  };
  for (const PyType_Slot* s = operator_slots; s->slot; ++s) slots.push_back(*s);
  slots.push_back({0, nullptr});
  const unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                         Py_TPFLAGS_DISALLOW_INSTANTIATION | (base ? 0 : Py_TPFLAGS_BASETYPE);
  PyType_Spec spec = {name, sizeof(PyTensor), 0, flags, slots.data()};
  PyObject* bases = base ? PyTuple_Pack(1, base) : nullptr;
  PyObject* type = PyType_FromSpecWithBases(&spec, bases);
  Py_XDECREF(bases);
  if (!type) nb::raise_python_error();
  return reinterpret_cast<PyTypeObject*>(type);
}

/// is_tensor asks only for our two types, so there must be no third.
void forbid_subclasses(nb::handle type) {
#ifdef Py_LIMITED_API
  const nb::object refuse = nb::cpp_function([](nb::args, nb::kwargs) {
    throw nb::type_error("type 'horngate._horngate.Tensor' is not an acceptable base type");
  });
  type.attr("__init_subclass__") = nb::module_::import_("builtins").attr("classmethod")(refuse);
#else
  reinterpret_cast<PyTypeObject*>(type.ptr())->tp_flags &= ~Py_TPFLAGS_BASETYPE;
#endif
}

}  // namespace

InStep::InStep() { ++steps; }
InStep::~InStep() { --steps; }

PyObject* shape_tuple(const Shape& shape) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(shape.ndim()));
  for (size_t i = 0; tuple && i < shape.ndim(); ++i) {
    PyObject* dim = Py_None;
    if (shape.dim(i) >= 0)
      dim = PyLong_FromLongLong(shape.dim(i));
    else
      Py_INCREF(dim);
    if (!dim) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), dim);
  }
  return tuple;
}

// What a layer declared counts, as with TensorFlow, also against the graph; where it says None, the graph may know.
PyObject* merged_shape(PyObject* object) {
  const PyTensor* self = self_of(object);
  PyObject* known = shape_tuple(self->tensor.shape());
  if (!known || !self->keras_shape) return known;
  if (PyTuple_GET_SIZE(known) != PyTuple_GET_SIZE(self->keras_shape)) {
    Py_DECREF(known);
    Py_INCREF(self->keras_shape);
    return self->keras_shape;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(known); ++i) {
    PyObject* assigned = PyTuple_GET_ITEM(self->keras_shape, i);
    if (assigned == Py_None) continue;
    Py_INCREF(assigned);
    PyTuple_SetItem(known, i, assigned);  // which gives up what was there
  }
  return known;
}

PyObject* wrap(const Tensor& tensor, PyObject* arguments) {
  if (!tensor.defined()) Py_RETURN_NONE;
  PyObject* found = reinterpret_cast<PyObject*>(find_wrapper(tensor));
  if (found) {
    Py_INCREF(found);
    return found;
  }
  PyTensor* self = PyObject_GC_New(PyTensor, is_variable(tensor) ? variable_type : tensor_type);
  if (!self) nb::raise_python_error();
  new (&self->tensor) Tensor(tensor);
  Py_XINCREF(arguments);
  self->arguments = arguments;
  self->dict = self->weak_references = self->keras_shape = nullptr;
  self->uses_phase = -1;
  self->sibling = nullptr;
  PyObject* object = reinterpret_cast<PyObject*>(self);
  // The allocation may have run the collector, and with it any code: somebody else may have made
  // the wrapper.
  found = reinterpret_cast<PyObject*>(find_wrapper(tensor));
  if (found) {
    Py_INCREF(found);
    Py_DECREF(object);
    return found;
  }
  void*& slot = hooks::wrapper_slot(tensor);
  self->sibling = static_cast<PyTensor*>(slot);
  slot = self;
  PyObject_GC_Track(object);
  return object;
}

void init_tensor(nb::module_& m) {
  tensor_type = make_type("horngate._horngate.Tensor", "A value of the graph.", nullptr, repr);
  variable_type =
      make_type("horngate._horngate.Variable", "A tensor that keeps its value between calls.",
                tensor_type, variable_str);
  const nb::handle tensor(reinterpret_cast<PyObject*>(tensor_type));
  const nb::handle variable(reinterpret_cast<PyObject*>(variable_type));
  forbid_subclasses(tensor);
  // NumPy leaves operators with a tensor to the tensor.
  tensor.attr("__array_ufunc__") = nb::none();
  tensor.attr("__array_priority__") = 100.0;
  variable.attr("trainable") = true;
  variable.attr("constraint") = nb::none();
  m.attr("Tensor") = tensor;
  m.attr("Variable") = variable;
  m.def(
      "is_tensor", [](Any x) { return is_tensor(x.ptr()); },
      "Whether x is a tensor or a variable; anything may be asked.");
  m.def(
      "is_variable", [](Any x) { return is_variable_object(x.ptr()); },
      "Whether x is a variable; anything may be asked.");
  m.def(
      "is_placeholder",
      [](Any x) { return is_tensor(x.ptr()) && is_placeholder(tensor_of(x.ptr())); },
      "Whether x was made by placeholder; anything may be asked.");
  m.def("live_node_count", &hooks::live_node_count, "Nodes that are alive.");
}

}  // namespace horngate::python
