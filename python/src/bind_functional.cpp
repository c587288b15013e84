// Functions of functions: recurrence over time, map and fold.
#include "horngate/ops/functional.h"

#include <nanobind/stl/string.h>

#include "call.h"
#include "sections.h"
#include "text.h"

namespace horngate::python {
namespace {

/// The tensors of a loop as Python objects; they belong to the loop, so nothing needs to hold their
/// arguments.
nb::list wrapped(const Tensors& tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(nb::steal(wrap(t)));
  return out;
}

/// A tensor of a loop. An array of floats takes the dtype `like`; one of integers, which count or
/// choose, keeps its own.
Tensor tensor_beside(Call& call, handle value, std::optional<DType> like) {
  const Tensor t = call.tensor(value);
  return call.holds_tensor(value) || !is_float(t.dtype()) ? t : call.tensor(value, like);
}

/// The same for a list; `like` unset: that of the first tensor.
Tensors tensors_beside(Call& call, handle values, const char* argument, std::optional<DType> like) {
  if (!is_list(values.ptr())) call.fail(argument, "a list of tensors", values);
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(values.ptr());
  for (Py_ssize_t i = 0; i < n && !like; ++i)
    if (PyObject* value = PySequence_Fast_GET_ITEM(values.ptr(), i); is_tensor(value))
      like = tensor_of(value).dtype();
  Tensors out;
  for (Py_ssize_t i = 0; i < n; ++i)
    out.push_back(tensor_beside(call, PySequence_Fast_GET_ITEM(values.ptr(), i), like));
  return out;
}

RnnStep call_step(Call& call, handle step_function, const Tensor& x, const Tensors& states) {
  const nb::object input = nb::steal(wrap(x));
  const InStep in_step;
  const nb::object made = step_function(input, wrapped(states));
  const bool is_pair = (PyTuple_Check(made.ptr()) || PyList_Check(made.ptr())) &&
                       PySequence_Fast_GET_SIZE(made.ptr()) == 2;
  if (!is_pair)
    throw TypeError("rnn: step_function must return (output, new states); got " + repr_of(made) +
                    ".");
  RnnStep step;
  step.output = tensor_beside(call, PySequence_Fast_GET_ITEM(made.ptr(), 0), x.dtype());
  step.new_states =
      tensors_beside(call, PySequence_Fast_GET_ITEM(made.ptr(), 1), "the new states", x.dtype());
  return step;
}

template <Tensor (*F)(const FoldFunction&, const Tensor&, const FoldOptions&)>
void fold(nb::module_& m, const char* name) {
  m.def(name, [name](Any fn, Any elems, Any initializer, Any given_name) {
    Call call(name);
    const Tensor t = call.tensor(elems);
    const FoldOptions options{.initializer = call.optional_tensor(initializer, t.dtype()),
                              .name = call.text(given_name, "name")};
    const FoldFunction step = [&](const Tensor& acc, const Tensor& x) {
      const nb::object a = nb::steal(wrap(acc));
      const nb::object made = fn(a, nb::steal(wrap(x)));
      return call.tensor(made, acc.dtype());
    };
    return call.result(F(step, t, options));
  });
}

}  // namespace

void bind_functional(nb::module_& m) {
  // Returns (last output, outputs, list of new states).
  m.def("rnn", [](Any step_function, Any inputs, Any initial_states, Any go_backwards, Any mask,
                  Any constants, Any unroll, Any input_length) {
    Call call("rnn");
    const Tensor x = call.tensor(inputs);
    const Tensors states = tensors_beside(call, initial_states, "initial_states", x.dtype());
    RnnOptions options;
    options.go_backwards = call.truth(go_backwards);
    options.mask = call.optional_tensor(mask);
    if (!constants.is_none())
      options.constants = tensors_beside(call, constants, "constants", x.dtype());
    options.unroll = call.truth(unroll);
    options.input_length = call.optional_integer(input_length, "input_length");
    // The step's tensors belong to the loop: a separate Call keeps them out of what the results
    // hold.
    const RnnStepFunction step = [&](const Tensor& x_t, const Tensors& all_states) {
      Call inner("rnn");
      return call_step(inner, step_function, x_t, all_states);
    };
    const RnnResult r = rnn(step, x, states, options);
    nb::list new_states;
    for (const Tensor& t : r.new_states) new_states.append(call.result(t));
    return nb::make_tuple(call.result(r.last_output), call.result(r.outputs), new_states);
  });
  // fn takes and returns lists.
  m.def("map_fn", [](Any fn, Any elems, Any name, Any dtype) {
    Call call("map_fn");
    const Tensors ts = tensors_beside(call, elems, "elems", {});
    const std::function<Tensors(const Tensors&)> several = [&](const Tensors& es) {
      Call inner("map_fn");
      const nb::object made = fn(wrapped(es));
      return tensors_beside(inner, made, "the results of fn", es[0].dtype());
    };
    return call.results(
        map_fn(several, ts, {.name = call.text(name, "name"), .dtype = call.dtype(dtype)}));
  });
  fold<foldl>(m, "foldl");
  fold<foldr>(m, "foldr");
}

}  // namespace horngate::python
