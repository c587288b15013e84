// Arguments of K functions: from Python to C++.
#include "call.h"

#include <cmath>

#include "errors.h"
#include "horngate/config.h"
#include "horngate/ops/shape.h"
#include "horngate/ops/variables.h"
#include "text.h"

namespace horngate::python {
namespace {

PyObject* first_tensor_in(PyObject* values) {
  if (is_tensor(values)) return values;
  if (!is_list(values)) return nullptr;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(values);
  for (Py_ssize_t i = 0; i < n; ++i)
    if (PyObject* found = first_tensor_in(PySequence_Fast_GET_ITEM(values, i))) return found;
  return nullptr;
}

/// The first tensor in nested lists, or null.
PyObject* first_tensor(PyObject* values, const char* function) {
  if (is_list(values)) check_nesting(values, function);
  return first_tensor_in(values);
}

bool fits(const Array& values, DType wanted) {
  const int bits = static_cast<int>(8 * size_of(wanted));
  const bool is_signed = is_signed_int(wanted);
  const Array wide = values.cast(DType::int64);
  for (int64_t i = 0; i < wide.size(); ++i) {
    const int64_t v = wide.data<int64_t>()[i];
    if (!is_signed && v < 0) return false;
    if (bits == 64) continue;
    const int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    if (v > high || (is_signed && v < -high - 1)) return false;
  }
  return true;
}

/// The dtype of a constant next to a tensor: a float literal takes that tensor's float type, an
/// integer one takes any number type that can hold its values.
DType dtype_beside(const Array& literal, DType like) {
  const DType own = literal.dtype();
  if (own == DType::bool_ || own == like) return own;
  if (is_float(own)) return is_float(like) ? like : floatx();
  if (is_float(like)) return like;
  return is_int(like) && own != DType::uint64 && fits(literal, like) ? like : own;
}

}  // namespace

Call::Call(const char* function) : function_(function) { sync_settings(); }

Call::~Call() {
  for (PyObject* object : used_) Py_DECREF(object);
  Py_XDECREF(arguments_);
}

void Call::fail(const char* argument, const std::string& wanted, handle got) const {
  throw TypeError(std::string(function_) + ": " + argument + " must be " + wanted + "; got " +
                  shown_of(got) + ".");
}

Array Call::literal(handle value, std::optional<DType> like) {
  const bool has_dtype =
      is_ndarray(value.ptr()) || (is_numpy_scalar(value.ptr()) && !PyFloat_Check(value.ptr()));
  Array own;
  nb::object object = as_ndarray(value, {}, function_, &own);
  // Beside integers they are compared with all their digits.
  if (like && is_int(*like) && own.dtype() == DType::float64 && own.size() > 0)
    if (nb::object exact = exact_integers(value, function_, &own); exact.is_valid())
      object = std::move(exact);
  DType dtype = own.dtype();
  if (like)
    dtype = dtype_beside(own, *like);
  else if (!has_dtype && is_float(dtype))
    dtype = floatx();
  else if (!has_dtype && dtype == DType::int64 && fits(own, DType::int32))
    dtype = DType::int32;
  return array_from(object, dtype, function_);
}

Tensor Call::packed(handle values, std::optional<DType> like) {
  if (!like) like = tensor_of(first_tensor_in(values.ptr())).dtype();
  Tensors parts;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(values.ptr());
  for (Py_ssize_t i = 0; i < n; ++i)
    parts.push_back(tensor(PySequence_Fast_GET_ITEM(values.ptr(), i), like));
  return stack(parts, 0);
}

Tensor Call::tensor(handle value, std::optional<DType> like) {
  if (is_tensor(value.ptr())) {
    Py_INCREF(value.ptr());
    used_.push_back(value.ptr());
    return tensor_of(value.ptr());
  }
  if (holds_tensor(value)) return packed(value, like);
  if (value.is_none() || is_scipy_sparse(value.ptr()))
    throw TypeError(std::string(function_) +
                    ": expected a tensor, a number or an array of numbers; got " +
                    type_name_of(value) + ".");
  return constant(literal(value, like));
}

bool Call::holds_tensor(handle value) const { return first_tensor(value.ptr(), function_); }

Tensor Call::optional_tensor(handle value, std::optional<DType> like) {
  return value.is_none() ? Tensor() : tensor(value, like);
}

std::pair<Tensor, Tensor> Call::tensors(handle x, handle y) {
  if (!is_tensor(x.ptr()) && is_tensor(y.ptr())) {
    const Tensor second = tensor(y);
    return {tensor(x, second.dtype()), second};
  }
  const Tensor first = tensor(x);
  return {first, tensor(y, first.dtype())};
}

Tensors Call::tensor_list(handle values, const char* argument) {
  if (!is_list(values.ptr())) fail(argument, "a list of tensors", values);
  PyObject* first = first_tensor(values.ptr(), function_);
  std::optional<DType> like;
  if (first) like = tensor_of(first).dtype();
  Tensors out;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(values.ptr());
  for (Py_ssize_t i = 0; i < n; ++i)
    out.push_back(tensor(PySequence_Fast_GET_ITEM(values.ptr(), i), like));
  return out;
}

Variable Call::variable(handle value, const char* argument) {
  if (!is_variable_object(value.ptr())) fail(argument, "a variable", value);
  return Variable(tensor(value));
}

Number Call::number(handle value, std::optional<DType> like) {
  PyObject* o = value.ptr();
  if (o == Py_None) return None;
  if (is_tensor(o)) return tensor(value);
  if (PyFloat_Check(o)) return PyFloat_AS_DOUBLE(o);
  if (PyBool_Check(o)) return constant(Array(o == Py_True));
  if (PyLong_Check(o)) {
    int overflow = 0;
    const long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) return static_cast<int64_t>(n);
    if (overflow > 0 && like == DType::uint64) {
      const unsigned long long wide = PyLong_AsUnsignedLongLong(o);
      if (!PyErr_Occurred()) return static_cast<uint64_t>(wide);
      PyErr_Clear();
    }
    return real(value, "the number");
  }
  const bool is_scalar = is_numpy_scalar(o) || (is_ndarray(o) && ndim_of(o) == 0);
  if (!is_scalar) return tensor(value, like);
  const Array one = array_from(value, {}, function_);
  if (one.dtype() == DType::bool_ || one.dtype() == DType::uint64) return constant(one);
  if (is_float(one.dtype())) return one.item<double>();
  return one.item<int64_t>();
}

std::pair<Number, Number> Call::numbers(handle x, handle y) {
  std::optional<DType> like;
  if (is_tensor(x.ptr()))
    like = tensor_of(x.ptr()).dtype();
  else if (is_tensor(y.ptr()))
    like = tensor_of(y.ptr()).dtype();
  // In two statements, since the compiler may evaluate arguments in any order.
  Number first = number(x, like);
  Number second = number(y, like);
  // Two numbers become constants: Keras passes on whatever its users gave.
  const auto is_plain = [](const Number& n) { return !n.is_tensor() && !n.is_none(); };
  if (is_plain(first) && is_plain(second)) first = tensor(x);
  return {std::move(first), std::move(second)};
}

struct Call::Choice {
  std::optional<DType> like;  // of the tensor among the two, as soon as one is known
  int calls = 0;              // callables that have not been called
};

Expression Call::expression(handle value, bool beside_callable,
                            const std::shared_ptr<Choice>& choice) {
  const bool calls = is_callable(value);
  if (!calls) {
    const Number n = number(value, choice->like);
    if (n.is_none()) fail("an expression", "a tensor, a number or a callable", value);
    if (!n.is_tensor()) return n.value();
    if (!beside_callable || holds_tensor(value)) return n.tensor();
  }
  // Copies of the expression share what the callable gave, so that it is called once.
  struct Given {
    nb::object function, value;
    bool waited = false;
  };
  const auto given = std::make_shared<Given>();
  (calls ? given->function : given->value) = nb::borrow(value);
  return Expression([this, given, choice] {
    if (!given->value.is_valid()) {
      given->value = given->function();
      --choice->calls;
    }
    if (holds_tensor(given->value)) {
      const Tensor result = tensor(given->value, choice->like);
      choice->like = result.dtype();
      return result;
    }
    if (choice->like || choice->calls == 0) return tensor(given->value, choice->like);
    if (!given->waited) {
      given->waited = true;
      return Tensor();
    }
    // The other one is not called at all: the condition is certain.
    const Tensor result = tensor(given->value);
    return result.dtype() == DType::float64 ? tensor(given->value, floatx()) : result;
  });
}

std::pair<Expression, Expression> Call::expressions(handle x, handle y) {
  const auto choice = std::make_shared<Choice>();
  for (const handle value : {y, x}) {
    if (PyObject* found = first_tensor(value.ptr(), function_))
      choice->like = tensor_of(found).dtype();
    choice->calls += is_callable(value);
  }
  Expression first = expression(x, is_callable(y), choice);
  return {std::move(first), expression(y, is_callable(x), choice)};
}

ShapeArg Call::shape(handle value, const char* argument) {
  if (value.is_none()) return {};
  if (is_tensor(value.ptr())) return tensor(value);
  if (PyIndex_Check(value.ptr()) && !is_ndarray(value.ptr()))
    return ShapeArg(std::vector<ShapeArg::Entry>{ShapeArg::Entry(integer(value, argument))});
  PyObject* items = PySequence_Fast(value.ptr(), "");
  if (!items) {
    PyErr_Clear();
    fail(argument, "integers, None or tensors", value);
  }
  const nb::object held = nb::steal(items);
  std::vector<ShapeArg::Entry> entries;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(items);
  for (Py_ssize_t i = 0; i < n; ++i) {
    const handle item(PySequence_Fast_GET_ITEM(items, i));
    if (item.is_none())
      entries.emplace_back(None);
    else if (is_tensor(item.ptr()))
      entries.emplace_back(tensor(item));
    else
      entries.emplace_back(integer(item, argument));
  }
  return ShapeArg(std::move(entries));
}

Shape Call::static_shape(handle value, const char* argument) {
  const ShapeArg arg = shape(value, argument);
  if (arg.whole.defined()) fail(argument, "integers, known when the graph is built", value);
  Ints dims;
  for (const ShapeArg::Entry& e : arg.entries) {
    if (e.tensor.defined()) fail(argument, "integers, known when the graph is built", value);
    dims.push_back(e.number);
  }
  return Shape(dims);
}

Axis Call::axis(handle value, const char* argument) {
  if (value.is_none()) return {};
  if (PyIndex_Check(value.ptr()) && !is_ndarray(value.ptr())) return integer(value, argument);
  return ints(value, argument);
}

Ints Call::ints(handle value, const char* argument) {
  PyObject* items = PySequence_Fast(value.ptr(), "");
  if (!items) {
    PyErr_Clear();
    if (PyIndex_Check(value.ptr())) return {integer(value, argument)};
    fail(argument, "integers", value);
  }
  const nb::object held = nb::steal(items);
  Ints out;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(items);
  for (Py_ssize_t i = 0; i < n; ++i)
    out.push_back(integer(PySequence_Fast_GET_ITEM(items, i), argument));
  return out;
}

int64_t Call::integer(handle value, const char* argument) {
  PyObject* index = PyIndex_Check(value.ptr()) ? PyNumber_Index(value.ptr()) : nullptr;
  // A float that is whole is accepted: factors and sizes are often computed.
  if (!index && PyFloat_Check(value.ptr()) &&
      std::floor(PyFloat_AS_DOUBLE(value.ptr())) == PyFloat_AS_DOUBLE(value.ptr()))
    index = PyNumber_Long(value.ptr());
  if (!index) {
    PyErr_Clear();
    fail(argument, "an integer", value);
  }
  const nb::object held = nb::steal(index);
  int overflow = 0;
  const long long n = PyLong_AsLongLongAndOverflow(index, &overflow);
  if (overflow) {
    PyErr_Format(PyExc_OverflowError, "%s: %s must be an integer of 64 bits; got %S.", function_,
                 argument, index);
    nb::raise_python_error();
  }
  return n;
}

std::optional<int64_t> Call::optional_integer(handle value, const char* argument) {
  if (value.is_none()) return {};
  return integer(value, argument);
}

double Call::real(handle value, const char* argument) {
  const double number = is_tensor(value.ptr()) ? -1.0 : PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && (is_tensor(value.ptr()) || PyErr_Occurred())) {
    PyErr_Clear();
    // An array with one element counts as that number.
    if (is_ndarray(value.ptr())) return array_from(value, DType::float64, function_).item<double>();
    fail(argument, "a number", value);
  }
  return number;
}

bool Call::truth(handle value) {
  const int result = PyObject_IsTrue(value.ptr());
  if (result < 0) nb::raise_python_error();
  return result != 0;
}

std::string Call::text(handle value, const char* argument) {
  if (value.is_none()) return {};
  if (!PyUnicode_Check(value.ptr())) fail(argument, "a string", value);
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (!data) nb::raise_python_error();
  return std::string(data, static_cast<size_t>(size));
}

namespace {
/// Options are compared as strings, so the error shows whatever was given as one.
std::string option_text(handle value) { return str_of(value); }
}  // namespace

std::optional<DataFormat> Call::data_format(handle value) {
  if (value.is_none()) return {};
  return data_format_from(option_text(value), function_);
}

Padding Call::padding(handle value, std::initializer_list<Padding> allowed) {
  return padding_from(option_text(value), function_, allowed);
}

PoolMode Call::pool_mode(handle value) { return pool_mode_from(option_text(value), function_); }

void Call::several(handle value, const char* argument, int64_t* out, size_t n) {
  if (PyIndex_Check(value.ptr()) && !is_ndarray(value.ptr())) {
    std::fill(out, out + n, integer(value, argument));
    return;
  }
  const Ints given = ints(value, argument);
  if (given.size() != n)
    throw ValueError(std::string(function_) + ": " + argument + " must have " + std::to_string(n) +
                     (n == 1 ? " entry; got " : " entries; got ") + repr_of(value) + ".");
  std::copy(given.begin(), given.end(), out);
}

PyObject* Call::arguments() {
  if (arguments_ || used_.empty()) return arguments_;
  arguments_ = PyTuple_New(static_cast<Py_ssize_t>(used_.size()));
  if (!arguments_) nb::raise_python_error();
  for (size_t i = 0; i < used_.size(); ++i) {
    Py_INCREF(used_[i]);
    PyTuple_SET_ITEM(arguments_, static_cast<Py_ssize_t>(i), used_[i]);
  }
  return arguments_;
}

nb::object Call::result(const Tensor& tensor) { return nb::steal(wrap(tensor, arguments())); }

nb::object Call::results(const Tensors& tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(result(t));
  return out;
}

}  // namespace horngate::python
