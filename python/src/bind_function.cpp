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

/// Values of tensors that need no feeds.
nb::object eval_tensor(Any x) {
  Call call("eval");
  const Tensor t = to_dense(call.tensor(x));
  Array value;
  {
    const Unlocked unlocked;
    value = eval(t);
  }
  show_warnings();
  return nb::steal(to_numpy(value));
}

nb::object get_values(nb::sequence variables) {
  Call call("batch_get_value");
  std::vector<Variable> dense;
  nb::list out;
  for (handle v : variables) {
    if (is_variable_object(v.ptr()) && !tensor_of(v.ptr()).is_sparse()) {
      dense.push_back(Variable(tensor_of(v.ptr())));
      out.append(nb::none());
    } else {
      out.append(eval_tensor(Any(v.ptr())));
    }
  }
  Arrays values;
  {
    const Unlocked unlocked;
    values = batch_get_value(dense);
  }
  size_t next = 0;
  for (size_t i = 0; i < nb::len(out); ++i)
    if (nb::object(out[i]).is_none()) out[i] = nb::steal(to_numpy(values[next++]));
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

void save_arrays(nb::bytes path, nb::dict arrays) {
  NamedArrays named;
  for (const auto& [name, value] : arrays) {
    if (!PyUnicode_Check(name.ptr()))
      throw TypeError("save: names must be strings; got " + repr_of(name) + ".");
    named[nb::cast<std::string>(name)] = array_from(value, {}, "save");
  }
  const std::string file(path.c_str(), path.size());
  const Unlocked unlocked;
  save(file, named);
}

void save_array(nb::bytes path, Any value) {
  const Array array = array_from(value, {}, "save");
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
