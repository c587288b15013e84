// Choosing between expressions, the learning phase, scopes.
#include "horngate/ops/control.h"

#include <nanobind/stl/string.h>

#include "call.h"
#include "horngate/ops/variables.h"
#include "sections.h"

namespace horngate::python {
namespace {

Training training_of(Call& call, handle value) {
  if (value.is_none()) return {};
  if (is_tensor(value.ptr())) return call.tensor(value);
  return Training(call.real(value, "training") != 0);
}

using ByPhase = Tensor (*)(const Expression&, const Expression&, const Training&);

template <ByPhase f>
void by_phase(nb::module_& m, const char* name) {
  m.def(name, [name](Any x, Any alt, Any training) {
    Call call(name);
    const Training phase = training_of(call, training);
    const auto [first, second] = call.expressions(x, alt);
    return call.result(f(first, second, phase));
  });
}

}  // namespace

void bind_control(nb::module_& m) {
  m.def("switch", [](Any condition, Any then_expression, Any else_expression) {
    Call call("switch");
    const Tensor c = call.tensor(condition);
    const auto [first, second] = call.expressions(then_expression, else_expression);
    return call.result(switch_(c, first, second));
  });
  by_phase<in_train_phase>(m, "in_train_phase");
  by_phase<in_test_phase>(m, "in_test_phase");

  // A number once the phase is fixed: Keras asks isinstance(learning_phase(), int).
  m.def("learning_phase", []() -> nb::object {
    if (const std::optional<bool> fixed = fixed_learning_phase()) return nb::int_(*fixed ? 1 : 0);
    return nb::steal(wrap(learning_phase()));
  });
  m.def("set_learning_phase", [](Any value) {
    Call call("set_learning_phase");
    set_learning_phase(call.integer(value, "value"));
  });

  m.def("begin_name_scope", [](const std::string& name) { return begin_name_scope(name); });
  m.def("end_name_scope", &end_name_scope);
  m.def("begin_control_dependencies", [](Any control_inputs) {
    Call call("control_dependencies");
    begin_control_dependencies(call.tensor_list(control_inputs, "control_inputs"));
  });
  m.def("end_control_dependencies", &end_control_dependencies);
}

}  // namespace horngate::python
