// Values of variables, updates and gradients.
#include <nanobind/stl/string.h>

#include "call.h"
#include "function.h"
#include "horngate/explain.h"
#include "horngate/function.h"
#include "horngate/ops/variables.h"
#include "horngate/save.h"
#include "sections.h"
#include "text.h"

namespace horngate::python {
namespace {

/// The value of a tensor that needs no feeds.
Array value_of(handle x) {
  Call call("eval");
  const Tensor t = to_dense(call.tensor(x));
  Array value;
  {
    const Unlocked unlocked;
    value = eval(t);
  }
  show_warnings();
  return value;
}

/// Values of variables, all of one moment, and of tensors that need no feeds; dense.
Arrays values_of(const std::vector<nb::object>& tensors) {
  Call call("batch_get_value");
  Arrays out(tensors.size());
  std::vector<Variable> dense;
  for (size_t i = 0; i < tensors.size(); ++i) {
    PyObject* t = tensors[i].ptr();
    if (is_variable_object(t) && !tensor_of(t).is_sparse())
      dense.push_back(Variable(tensor_of(t)));
    else
      out[i] = value_of(t);
  }
  Arrays values;
  {
    const Unlocked unlocked;
    values = batch_get_value(dense);
  }
  size_t next = 0;
  for (Array& a : out)
    if (!a.defined()) a = std::move(values[next++]);
  return out;
}

nb::object eval_tensor(Any x) { return nb::steal(to_numpy(value_of(x))); }

nb::object get_values(nb::sequence variables) {
  std::vector<nb::object> tensors;
  for (handle v : variables) tensors.push_back(nb::borrow(v));
  nb::list out;
  for (const Array& a : values_of(tensors)) out.append(nb::steal(to_numpy(a)));
  return out;
}

void set_values(nb::sequence pairs) {
  Call call("set_value");
  std::vector<std::pair<Variable, Array>> values;
  for (handle pair : pairs) {
    const nb::tuple item = nb::borrow<nb::tuple>(pair);
    const Variable v = call.variable(item[0]);
    const nb::object value = item[1];
    values.emplace_back(v, array_from(value, v.dtype(), "set_value"));
  }
  const Unlocked unlocked;
  batch_set_value(values);
}

/// Variables do not go through NumPy, which has not all of their dtypes.
void save_arrays(nb::bytes path, nb::dict arrays) {
  NamedArrays named;
  std::vector<std::string> names;
  std::vector<nb::object> variables;
  for (const auto& [key, value] : arrays) {
    if (!PyUnicode_Check(key.ptr()))
      throw TypeError("save: names must be strings; got " + repr_of(key) + ".");
    const std::string name = nb::cast<std::string>(key);
    if (is_variable_object(value.ptr())) {
      names.push_back(name);
      variables.push_back(nb::borrow(value));
    } else {
      named[name] = array_from(value, {}, "save");
    }
  }
  const Arrays values = values_of(variables);
  for (size_t i = 0; i < names.size(); ++i) named[names[i]] = values[i];
  const std::string file(path.c_str(), path.size());
  const Unlocked unlocked;
  save(file, named);
}

void save_array(nb::bytes path, Any value) {
  const bool is_variable = is_variable_object(value.ptr());
  const Array array =
      is_variable ? values_of({nb::borrow(value)})[0] : array_from(value, {}, "save");
  const std::string file(path.c_str(), path.size());
  const Unlocked unlocked;
  save(file, array);
}

nb::dict load_arrays(nb::bytes path) {
  const std::string file(path.c_str(), path.size());
  NamedArrays arrays;
  {
    const Unlocked unlocked;
    arrays = load(file);
  }
  nb::dict out;
  for (const auto& [name, array] : arrays)
    out[nb::str(name.data(), name.size())] = nb::steal(to_ndarray(array));
  return out;
}

}  // namespace

void bind_function(nb::module_& m) {
  m.def("save_arrays", &save_arrays, "See horngate.files.save.");
  m.def("save_array", &save_array, "See horngate.files.save.");
  m.def("load_arrays", &load_arrays, "See horngate.files.load.");
  m.def("eval", &eval_tensor, "Value of a tensor that needs no feeds.");
  m.def("batch_get_value", &get_values, "Values of variables, all of one moment.");
  m.def("batch_set_value", &set_values, "Sets (variable, value) pairs, all at once.");
  m.def("gradients", [](Any loss, Any variables, Any strict) {
    Call call("gradients");
    const Tensor l = call.tensor(loss);
    return call.results(
        gradients(l, call.tensor_list(variables, "variables"), {.strict = call.truth(strict)}));
  });
  m.def("explain_gradient", [](Any loss, Any x) {
    Call call("explain_gradient");
    const Tensor l = call.tensor(loss), target = call.tensor(x);
    return nb::steal(readable(explain_gradient(l, target)));
  });
  m.def("update", [](Any x, Any new_x) {
    Call call("update");
    const Variable v = call.variable(x);
    return call.result(update(v, call.number(new_x, v.dtype())));
  });
  m.def("update_add", [](Any x, Any increment) {
    Call call("update_add");
    const Variable v = call.variable(x);
    return call.result(update_add(v, call.number(increment, v.dtype())));
  });
  m.def("update_sub", [](Any x, Any decrement) {
    Call call("update_sub");
    const Variable v = call.variable(x);
    return call.result(update_sub(v, call.number(decrement, v.dtype())));
  });
  m.def("moving_average_update", [](Any x, Any value, Any momentum) {
    Call call("moving_average_update");
    const Variable v = call.variable(x);
    const Number observed = call.number(value, v.dtype());
    return call.result(moving_average_update(v, observed, call.real(momentum, "momentum")));
  });
}

}  // namespace horngate::python
