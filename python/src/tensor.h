// The Python types Tensor and Variable: one wrapper per value of the graph.
//
// A node refers weakly to its wrappers (hooks::wrapper_slot), a wrapper holds its node. A wrapper
// also holds a tuple of the wrappers that were arguments of the call that made it: code that keeps
// id(x) of an input stays right for as long as it holds the output. Every cycle (tensor -> __dict__
// -> layer -> tensor) is visible to Python's collector.
#pragma once

#include <nanobind/nanobind.h>

#include "horngate/tensor.h"
#include "stable_abi.h"

namespace horngate::python {

namespace nb = nanobind;

struct PyTensor {
  PyObject_HEAD Tensor tensor;
  PyObject* dict;
  PyObject* weak_references;
  PyObject* arguments;    // tuple of wrappers, or null
  PyObject* keras_shape;  // what was assigned to _keras_shape, or null
  PyTensor* sibling;      // wrapper of another output of the same node; weak
  int8_t uses_phase;      // what was assigned to _uses_learning_phase; -1: nothing
};

extern PyTypeObject* tensor_type;
extern PyTypeObject* variable_type;

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type || Py_TYPE(object) == variable_type;
}
inline bool is_variable_object(PyObject* object) { return Py_TYPE(object) == variable_type; }
inline const Tensor& tensor_of(PyObject* object) {
  return reinterpret_cast<PyTensor*>(object)->tensor;
}

/// The wrapper of a tensor, a new reference; None for the empty one. `arguments`, a tuple or null,
/// is kept if the wrapper is new.
PyObject* wrap(const Tensor& tensor, PyObject* arguments = nullptr);

/// While one is alive, _keras_shape and _uses_learning_phase exist only if they were assigned or
/// carry information. In the step of K.rnn Keras asks hasattr first and, by a mistake of its own,
/// fails if the value is a plain no.
class InStep {
 public:
  InStep();
  ~InStep();
  InStep(const InStep&) = delete;
};

/// (None, 28, 28, 1)
PyObject* shape_tuple(const Shape& shape);
/// What K.int_shape gives: sizes that a Keras layer knows better fill in for None.
PyObject* merged_shape(PyObject* tensor);

/// Number and mapping protocol, in operators.cpp.
extern PyType_Slot operator_slots[];

void init_tensor(nb::module_& m);

}  // namespace horngate::python
