// Operators and indexing of tensors.
#include "call.h"
#include "errors.h"
#include "horngate/ops/linalg.h"
#include "horngate/ops/shape.h"

namespace horngate::python {
namespace {

/// What may stand next to a tensor; for anything else Python asks the other side.
bool is_operand(PyObject* o) {
  return is_tensor(o) || PyFloat_Check(o) || PyLong_Check(o) || is_ndarray(o) ||
         is_numpy_scalar(o) || PyList_Check(o) || PyTuple_Check(o);
}

using Function2 = Tensor (*)(const Number&, const Number&);

template <class F>
Tensor apply(const Number& x, const Number& y, F&& f) {
  if (!y.is_tensor()) return f(x.tensor(), y);
  if (!x.is_tensor()) return f(x, y.tensor());
  return f(x.tensor(), y.tensor());
}

Tensor add(const Number& x, const Number& y) {
  return apply(x, y, [](const auto& a, const auto& b) { return a + b; });
}
Tensor subtract(const Number& x, const Number& y) {
  return apply(x, y, [](const auto& a, const auto& b) { return a - b; });
}
Tensor multiply(const Number& x, const Number& y) {
  return apply(x, y, [](const auto& a, const auto& b) { return a * b; });
}
Tensor divide(const Number& x, const Number& y) {
  return apply(x, y, [](const auto& a, const auto& b) { return a / b; });
}

PyObject* call_binary(const char* name, Function2 f, PyObject* a, PyObject* b) {
  if (!is_operand(a) || !is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    Call call(name);
    const auto [x, y] = call.numbers(a, b);
    return call.result(f(x, y)).release().ptr();
  });
}

PyObject* nb_add(PyObject* a, PyObject* b) { return call_binary("+", add, a, b); }
PyObject* nb_subtract(PyObject* a, PyObject* b) { return call_binary("-", subtract, a, b); }
PyObject* nb_multiply(PyObject* a, PyObject* b) { return call_binary("*", multiply, a, b); }
PyObject* nb_divide(PyObject* a, PyObject* b) { return call_binary("/", divide, a, b); }
PyObject* nb_floordiv(PyObject* a, PyObject* b) { return call_binary("//", floordiv, a, b); }
PyObject* nb_mod(PyObject* a, PyObject* b) { return call_binary("%", mod, a, b); }
PyObject* nb_pow(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return call_binary("**", pow, a, b);
}

/// NumPy's @ for up to three dimensions: products of matrices, or of each sample's matrices.
PyObject* nb_matmul(PyObject* a, PyObject* b) {
  if (!is_operand(a) || !is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    Call call("@");
    const auto [x, y] = call.tensors(a, b);
    if (x.ndim() == 3 && y.ndim() == 3) return call.result(batch_dot(x, y)).release().ptr();
    if (x.ndim() > 3 || y.ndim() > 2)
      throw ValueError(
          "@: takes matrices, or stacks of three dimensions on both sides; got shapes " +
          x.shape().str() + " and " + y.shape().str() + ". See K.dot and K.batch_dot.");
    return call.result(dot(x, y)).release().ptr();
  });
}

PyObject* nb_negative(PyObject* a) {
  return guarded([&] {
    Call call("-");
    return call.result(-call.tensor(a)).release().ptr();
  });
}

PyObject* nb_absolute(PyObject* a) {
  return guarded([&] {
    Call call("abs");
    return call.result(abs(call.tensor(a))).release().ptr();
  });
}

/// == and != compare identity, so that tensors can be keys and members; < and the like build the
/// graph.
PyObject* compare(PyObject* a, PyObject* b, int op) {
  switch (op) {
    case Py_EQ: return PyBool_FromLong(a == b);
    case Py_NE: return PyBool_FromLong(a != b);
    case Py_LT: return call_binary("<", less, a, b);
    case Py_LE: return call_binary("<=", less_equal, a, b);
    case Py_GT: return call_binary(">", greater, a, b);
    default: return call_binary(">=", greater_equal, a, b);
  }
}

Py_hash_t hash(PyObject* self) {
  static const auto by_identity =
      reinterpret_cast<hashfunc>(PyType_GetSlot(&PyBaseObject_Type, Py_tp_hash));
  return by_identity(self);
}

int truth(PyObject*) {
  PyErr_SetString(PyExc_TypeError,
                  "a tensor has no truth value while the graph is built; use K.switch, or K.eval "
                  "to get its value.");
  return -1;
}

PyObject* iterate(PyObject*) {
  PyErr_SetString(PyExc_TypeError,
                  "a tensor cannot be iterated over while the graph is built; use K.map_fn, or "
                  "index it: x[i].");
  return nullptr;
}

Bound bound_of(Call& call, handle value) {
  if (value.is_none()) return {};
  if (is_tensor(value.ptr())) return call.tensor(value);
  return call.integer(value, "a bound");
}

Index index_of(Call& call, handle item) {
  PyObject* o = item.ptr();
  if (o == Py_None) return None;
  if (o == Py_Ellipsis) return Ellipsis;
  if (is_tensor(o)) return call.tensor(item);
  if (PyBool_Check(o)) call.fail("an index", "an integer", item);  // NumPy adds an axis for it
  if (PySlice_Check(o)) {
    const nb::object start = item.attr("start"), stop = item.attr("stop"), step = item.attr("step");
    Slice slice;
    slice.start = bound_of(call, start);
    slice.stop = bound_of(call, stop);
    if (!step.is_none()) slice.step = call.integer(step, "the step");
    return slice;
  }
  const bool is_array = PyList_Check(o) || PyTuple_Check(o) || (is_ndarray(o) && ndim_of(o) > 0);
  if (!is_array) return call.integer(item, "an index");
  const Tensor positions = call.tensor(item);
  if (!is_int(positions.dtype()))
    throw TypeError(std::string("[]: an array of indices must contain integers; got dtype ") +
                    name_of(positions.dtype()) + ".");
  return positions;
}

/// Older NumPy accepted a list of slices as a tuple, and some code builds one.
bool is_index_list(PyObject* key) {
  if (PyTuple_Check(key)) return true;
  if (!PyList_Check(key)) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(key); ++i) {
    PyObject* item = PyList_GET_ITEM(key, i);
    if (PySlice_Check(item) || item == Py_Ellipsis || item == Py_None) return true;
  }
  return false;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&] {
    Call call("[]");
    const Tensor x = call.tensor(self);
    std::vector<Index> indices;
    if (is_index_list(key)) {
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(key); ++i)
        indices.push_back(index_of(call, PySequence_Fast_GET_ITEM(key, i)));
    } else {
      indices.push_back(index_of(call, key));
    }
    return call.result(getitem(x, std::span<const Index>(indices))).release().ptr();
  });
}

template <class F>
void* pointer(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

PyType_Slot operator_slots[] = {
    {Py_nb_add, pointer(nb_add)},
    {Py_nb_subtract, pointer(nb_subtract)},
    {Py_nb_multiply, pointer(nb_multiply)},
    {Py_nb_true_divide, pointer(nb_divide)},
    {Py_nb_floor_divide, pointer(nb_floordiv)},
    {Py_nb_remainder, pointer(nb_mod)},
    {Py_nb_power, pointer(nb_pow)},
    {Py_nb_matrix_multiply, pointer(nb_matmul)},
    {Py_nb_negative, pointer(nb_negative)},
    {Py_nb_absolute, pointer(nb_absolute)},
    {Py_nb_bool, pointer(truth)},
    {Py_mp_subscript, pointer(subscript)},
    {Py_tp_iter, pointer(iterate)},
    {Py_tp_richcompare, pointer(compare)},
    {Py_tp_hash, pointer(hash)},
    {0, nullptr},
};

}  // namespace horngate::python
