// Variables, placeholders, constants, sparse tensors, uids.
#include "horngate/ops/variables.h"

#include <nanobind/stl/string.h>

#include "call.h"
#include "function.h"
#include "horngate/config.h"
#include "horngate/hooks.h"
#include "sections.h"

namespace horngate::python {
namespace {

/// The initial value of a variable; a tensor is computed now, once.
Array start_value(Call& call, handle value, DType dtype) {
  if (is_scipy_sparse(value.ptr())) return sparse_array_from(value, dtype, call.function());
  if (!call.holds_tensor(value)) return array_from(value, dtype, call.function());
  const Tensor t = call.tensor(value, dtype);
  const Unlocked unlocked;
  return hooks::initial_value(t);
}

}  // namespace

void bind_variables(nb::module_& m) {
  m.def("variable", [](Any value, Any dtype, Any name) {
    Call call("variable");
    const DType type = call.dtype(dtype).value_or(floatx());
    const Array start = start_value(call, value, type);
    const std::string text = call.text(name, "name");
    // No arguments are kept: a variable has no further connection to the tensor it started from.
    return nb::steal(wrap(variable(start, {.dtype = type, .name = text})));
  });
  m.def("constant", [](Any value, Any dtype, Any shape, Any name) {
    Call call("constant");
    const DType type = call.dtype(dtype).value_or(floatx());
    ConstantOptions options{.dtype = type, .name = call.text(name, "name")};
    if (!shape.is_none()) options.shape = call.static_shape(shape);
    if (is_tensor(value.ptr()))
      throw TypeError(
          "constant: value must be a number, a list or an array; got a tensor. K.identity makes a "
          "new "
          "tensor of it.");
    return call.result(constant(array_from(value, type, "constant"), options));
  });
  m.def("placeholder", [](Any shape, Any ndim, Any dtype, Any sparse, Any name) {
    Call call("placeholder");
    PlaceholderOptions o;
    if (!shape.is_none()) o.shape = call.static_shape(shape);
    if (shape.is_none()) o.ndim = call.optional_integer(ndim, "ndim");
    o.dtype = call.dtype(dtype);
    o.sparse = call.truth(sparse);
    o.name = call.text(name, "name");
    return call.result(placeholder(o));
  });
  m.def("is_sparse", [](Any tensor) {
    Call call("is_sparse");
    return call.tensor(tensor).is_sparse();
  });
  m.def("clear_session", [] {
    const Unlocked unlocked;
    clear_session();
  });
  m.def("get_uid", [](const std::string& prefix) { return get_uid(prefix); });
  m.def("reset_uids", &reset_uids);
}

}  // namespace horngate::python
