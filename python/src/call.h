// Call: one call of a K function from Python. It converts arguments to C++ values, with errors that
// name the function and the argument, and remembers the tensors among them for the wrappers of the
// results.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "array.h"
#include "horngate/args.h"
#include "horngate/ops/control.h"
#include "horngate/ops/elementwise.h"
#include "horngate/options.h"
#include "tensor.h"

namespace horngate::python {

using nb::handle;

/// An argument as it came, including None, which nanobind does not accept for plain handles.
struct Any : nb::handle {
  using nb::handle::handle;
};

inline bool is_list(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

/// A function that gives a tensor, where a tensor may stand too.
inline bool is_callable(handle value) {
  return !is_tensor(value.ptr()) && PyCallable_Check(value.ptr());
}

class Call {
 public:
  /// `function` must outlive the call: a literal.
  explicit Call(const char* function);
  Call(const Call&) = delete;
  ~Call();
  const char* function() const { return function_; }

  /// A tensor; a number, an array or a list becomes a constant, a list that holds tensors is
  /// stacked. A constant takes the dtype `like` if that loses nothing but float precision.
  Tensor tensor(handle value, std::optional<DType> like = {});
  /// Whether it is a tensor, or a list with one somewhere in it.
  bool holds_tensor(handle value) const;
  /// None gives the empty tensor.
  Tensor optional_tensor(handle value, std::optional<DType> like = {});
  /// Both; if one is not a tensor, it takes the dtype of the other.
  std::pair<Tensor, Tensor> tensors(handle x, handle y);
  /// A list or tuple of tensors.
  Tensors tensor_list(handle values, const char* argument);
  Variable variable(handle value, const char* argument = "x");

  /// A tensor or a plain number; None stays None.
  Number number(handle value, std::optional<DType> like = {});
  std::pair<Number, Number> numbers(handle x, handle y);
  /// Two of which each is a tensor, a number, or a callable that returns one; what is no tensor
  /// takes the dtype of the other. One that waits for what the other's callable gives is empty when
  /// it is asked for the first time.
  std::pair<Expression, Expression> expressions(handle x, handle y);

  ShapeArg shape(handle value, const char* argument = "shape");
  /// A shape without tensors; an int is a shape of one axis.
  Shape static_shape(handle value, const char* argument = "shape");
  Axis axis(handle value, const char* argument = "axis");
  Ints ints(handle value, const char* argument);
  int64_t integer(handle value, const char* argument);
  std::optional<int64_t> optional_integer(handle value, const char* argument);
  double real(handle value, const char* argument);
  bool truth(handle value);
  /// None gives the empty string.
  std::string text(handle value, const char* argument);
  std::optional<DType> dtype(handle value) { return optional_dtype(value, function_); }
  std::optional<DataFormat> data_format(handle value);
  Padding padding(handle value,
                  std::initializer_list<Padding> allowed = {Padding::valid, Padding::same});
  PoolMode pool_mode(handle value);
  /// N integers; a single one stands for all.
  template <size_t N>
  std::array<int64_t, N> several(handle value, const char* argument) {
    std::array<int64_t, N> out;
    several(value, argument, out.data(), N);
    return out;
  }

  /// The value of a literal as an array, with the dtype of a constant next to `like`.
  Array literal(handle value, std::optional<DType> like);

  /// TypeError: the argument must be something else.
  [[noreturn]] void fail(const char* argument, const std::string& wanted, handle got) const;

  nb::object result(const Tensor& tensor);
  nb::object results(const Tensors& tensors);  // a list

 private:
  void several(handle value, const char* argument, int64_t* out, size_t n);
  Tensor packed(handle values, std::optional<DType> like);
  struct Choice;  // what the two expressions of a call know of each other
  Expression expression(handle value, bool beside_callable, const std::shared_ptr<Choice>& choice);
  PyObject* arguments();

  const char* function_;
  SmallVec<PyObject*, 6> used_;    // wrappers that came as arguments; we hold references
  PyObject* arguments_ = nullptr;  // the same as a tuple, once there is a result
};

/// Adopts floatx, epsilon and image_data_format from Keras once it is loaded, since they belong to
/// it then.
void sync_settings();

}  // namespace horngate::python

namespace nanobind::detail {

template <>
struct has_arg_defaults<horngate::python::Any> : std::true_type {};

template <>
struct type_caster<horngate::python::Any> {
  NB_TYPE_CASTER(horngate::python::Any, const_name("object"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    value = horngate::python::Any(source.ptr());
    return true;
  }
  static handle from_cpp(const horngate::python::Any& source, rv_policy, cleanup_list*) noexcept {
    return source.inc_ref();
  }
};

}  // namespace nanobind::detail
