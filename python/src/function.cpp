// The callable that K.function returns: feeds in, arrays out, with little in between.
#include "function.h"

#include <structmember.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "call.h"
#include "errors.h"
#include "horngate/export_onnx.h"
#include "horngate/function.h"
#include "horngate/hooks.h"
#include "horngate/ops/variables.h"
#include "horngate/profile.h"
#include "text.h"

namespace horngate::python {
namespace {

/// What the caller's values are converted to.
struct Input {
  DType dtype = DType::float32;
  bool is_open = false;  // None among the inputs: its value is ignored
  bool is_phase = false;
  bool is_sparse = false;
};

struct FunctionState {
  Function function;
  std::vector<Input> inputs;
  size_t n_returned = 0;  // further outputs are computed, but not returned
  Arrays fixed;           // values of the inputs from feed_dict, which follow the caller's
  Tensors input_tensors, output_tensors;  // for the functions below
  std::vector<Update> updates;
  std::string name;
  bool takes_bare = false, returns_bare = false;  // one value, one result, not in lists
  std::map<std::vector<bool>, Function>
      without;             // the same with some inputs left out, made when asked for
  Tensors fed_tensors;     // tensors that the last call got as values, and
  Function values_of_fed;  // what computes them
};

struct PyFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* weak_references;
  FunctionState* state;
};

FunctionState* state_of(PyObject* object) { return reinterpret_cast<PyFunction*>(object)->state; }

/// Where lines of print_tensor go, as an attribute of sys.
constexpr const char* kPrintStream = "stdout";

thread_local std::vector<std::string> pending_warnings;
PyObject* log_handler = nullptr;  // takes them in place of Python's warnings

/// Called by the library while the GIL is released. The error stays set for whoever takes the GIL
/// again.
int check_signals() {
  if (!Py_IsInitialized()) return 0;  // what a program does after Python's end
  const Locked locked;
  return PyErr_CheckSignals();
}

/// Ends the call that this thread is in. The error is set, for whoever takes the GIL again.
[[noreturn]] void end_call() { throw Interrupted("function: ended by Python code that it ran."); }

/// A line of print_tensor. Nobody waits for one of our locks with the GIL held, so taking the GIL
/// here is safe. An error ends the call, as one of print() would: a Ctrl-C may arrive in here.
void print_line(const std::string& line) {
  bool failed = false;
  {
    const Locked locked;
    if (PyErr_Occurred()) return;  // the call ends for another reason
    PyObject* stream = PySys_GetObject(kPrintStream);
    if (!stream || stream == Py_None) return;
    const nb::object held = nb::borrow(stream);  // code of the stream may set another one
    PyObject* text =
        PyUnicode_DecodeUTF8(line.data(), static_cast<Py_ssize_t>(line.size()), "replace");
    failed = !text || PyFile_WriteObject(text, stream, Py_PRINT_RAW) != 0 ||
             PyFile_WriteString("\n", stream) != 0;
    Py_XDECREF(text);
  }
  if (failed) end_call();
}

/// Before a call changes variables: warnings that are errors end it.
void tell_warnings() {
  if (pending_warnings.empty()) return;
  bool failed = false;
  {
    const Locked locked;
    if (PyErr_Occurred()) return;
    try {
      show_warnings();
    } catch (nb::python_error& e) {
      e.restore();
      failed = true;
    }
  }
  if (failed) end_call();
}

/// The learning phase may be 1, [0], 1.0, True or an array with one element.
bool phase_from(handle value) {
  PyObject* o = value.ptr();
  if (PyBool_Check(o)) return o == Py_True;
  if (PyLong_Check(o)) return PyLong_AsLongLong(o) != 0;
  if (PyFloat_Check(o)) return PyFloat_AS_DOUBLE(o) != 0;
  const Array a = array_from(value, DType::float64, "function");
  if (a.size() < 1)
    throw ValueError("function: the learning phase must be 0 or 1; got an empty array.");
  return *a.data<double>() != 0;
}

const bool kPhases[2] = {false, true};

/// Holds the objects behind the feeds.
struct Feeds {
  std::vector<Array> arrays;
  SmallVec<PyObject*, 8> held;
  std::vector<size_t> computed;  // which arrays are those of `tensors`
  Tensors tensors;
  bool some_missing = false;
  ~Feeds() {
    arrays.clear();
    for (PyObject* o : held) Py_DECREF(o);
  }
};

void add_feed(Feeds& feeds, const Input& input, PyObject* value) {
  Array a;
  if (input.is_open) {
    feeds.arrays.emplace_back();
    return;
  }
  if (value == Py_None) {
    feeds.some_missing |= !input.is_phase;  // the phase is 0 if it is not fed
    feeds.arrays.emplace_back();
    return;
  }
  if (input.is_phase) {
    feeds.arrays.push_back(
        Array::view(const_cast<bool*>(&kPhases[phase_from(value)]), DType::bool_, Ints{}));
    return;
  }
  if (borrow_array(value, &a)) {
    Py_INCREF(value);
    feeds.held.push_back(value);
    feeds.arrays.push_back(std::move(a));
    return;
  }
  if (is_tensor(value)) {
    feeds.computed.push_back(feeds.arrays.size());
    feeds.tensors.push_back(to_dense(tensor_of(value)));
    feeds.arrays.emplace_back();
    return;
  }
  if (is_scipy_sparse(value)) {
    if (!input.is_sparse)
      throw TypeError(
          "function: a sparse matrix was given for a dense input; use toarray(), or "
          "K.placeholder(sparse=True).");
    feeds.arrays.push_back(sparse_array_from(value, input.dtype, "function"));
    return;
  }
  feeds.held.push_back(as_ndarray(value, input.dtype, "function", &a).release().ptr());
  feeds.arrays.push_back(std::move(a));
}

Arrays run(const Function& function, const std::vector<Array>& feeds) {
  const Unlocked unlocked;
  return function(std::span<const Array>(feeds));
}

bool same(const Tensors& a, const Tensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return x.same_as(y); });
}

/// Tensors may be given as values (Keras trains on them): they are computed together, once per
/// call. A training loop gives the same ones each time.
void compute_fed_tensors(FunctionState* self, Feeds& feeds) {
  Function values_of = self->values_of_fed;  // a copy: other threads may call with other tensors
  if (!same(self->fed_tensors, feeds.tensors)) {
    {
      const Unlocked unlocked;
      values_of = function({}, feeds.tensors, {}, {.name = self->name + "/values"});
    }
    self->values_of_fed = values_of;
    self->fed_tensors = feeds.tensors;
  }
  const Arrays values = run(values_of, {});
  for (size_t i = 0; i < values.size(); ++i) feeds.arrays[feeds.computed[i]] = values[i];
}

/// The same program without the inputs that got None: these use their own values, or nothing reads
/// them.
Arrays run_without(FunctionState* self, Feeds& feeds) {
  std::vector<bool> missing;
  for (size_t i = 0; i < feeds.arrays.size(); ++i)
    missing.push_back(!feeds.arrays[i].defined() && !self->inputs[i].is_open &&
                      !self->inputs[i].is_phase);
  Function f = self->without[missing];
  if (!f.impl()) {
    Tensors inputs = self->input_tensors;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (missing[i]) inputs[i] = Tensor();
    {
      const Unlocked unlocked;
      f = function(inputs, self->output_tensors, self->updates, {.name = self->name});
    }
    self->without[missing] = f;
  }
  return run(f, feeds.arrays);
}

PyObject* list_of(const Arrays& arrays, size_t n) {
  PyObject* out = PyList_New(static_cast<Py_ssize_t>(n));
  if (!out) nb::raise_python_error();
  nb::object held = nb::steal(out);
  for (size_t i = 0; i < n; ++i) {
    if (arrays[i].is_sparse()) {
      PyList_SET_ITEM(out, static_cast<Py_ssize_t>(i), to_scipy(arrays[i]).release().ptr());
      continue;
    }
    PyList_SET_ITEM(out, static_cast<Py_ssize_t>(i), to_numpy(arrays[i]));
  }
  return held.release().ptr();
}

/// A list that stands for an array: of numbers, or of such lists.
bool is_value(PyObject* object) {
  if (!is_list(object))
    return PyFloat_Check(object) || PyLong_Check(object) || is_numpy_scalar(object);
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!is_value(PySequence_Fast_GET_ITEM(object, i))) return false;
  return n > 0;
}

void open_lists(PyObject* values, nb::list& out) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(values);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* value = PySequence_Fast_GET_ITEM(values, i);
    if (is_list(value) && !is_value(value))
      open_lists(value, out);
    else
      out.append(handle(value));
  }
}

/// Values that are not as many as inputs, as Keras takes them: lists in lists are opened, and what is over is
/// ignored, with a warning.
nb::list fitting_values(const FunctionState& self, PyObject* values, size_t n_inputs) {
  check_nesting(values, "function");
  nb::list out;
  open_lists(values, out);
  const size_t n = nb::len(out);
  const std::string takes = "function: takes " + std::to_string(n_inputs) +
                            (n_inputs == 1 ? " input; got " : " inputs; got ") + std::to_string(n);
  if (n < n_inputs)
    throw ValueError(takes + ": input " + std::to_string(n) + " \"" + self.input_tensors[n].name() +
                     "\" is missing.");
  if (n > n_inputs &&
      PyErr_WarnEx(PyExc_UserWarning, (takes + ". What is over is ignored.").c_str(), 1) < 0)
    nb::raise_python_error();
  if (PyList_SetSlice(out.ptr(), static_cast<Py_ssize_t>(n_inputs), static_cast<Py_ssize_t>(n),
                      nullptr) < 0)
    nb::raise_python_error();
  return out;
}

PyObject* call_function(PyObject* object, PyObject* const* args, size_t flags, PyObject* keywords) {
  return guarded([&] {
    FunctionState* self = state_of(object);
    const Py_ssize_t n_args = PyVectorcall_NARGS(flags);
    const size_t n_inputs = self->inputs.size() - self->fixed.size();
    if ((keywords && PyTuple_GET_SIZE(keywords)) || n_args > 1 || (n_args == 0 && n_inputs > 0))
      throw TypeError("function: takes one list, with a value for each input.");
    Feeds feeds;
    feeds.arrays.reserve(self->inputs.size());
    nb::object opened;
    if (n_args) {
      PyObject* values = args[0];
      if (self->takes_bare && !is_list(values)) {
        opened = nb::make_tuple(handle(values));
        values = opened.ptr();
      }
      if (!is_list(values))
        throw TypeError(std::string("function: the values must be in a list or tuple; got ") +
                        type_name_of(values) + ".");
      auto n = static_cast<size_t>(PySequence_Fast_GET_SIZE(values));
      if (n != n_inputs) [[unlikely]] {
        opened = fitting_values(*self, values, n_inputs);
        values = opened.ptr();
        n = n_inputs;
      }
      for (size_t i = 0; i < n; ++i) {
        // Conversion runs code that may change the list.
        if (static_cast<size_t>(PySequence_Fast_GET_SIZE(values)) != n)
          throw RuntimeError("function: the list of values changed during the call.");
        const nb::object value =
            nb::borrow(PySequence_Fast_GET_ITEM(values, static_cast<Py_ssize_t>(i)));
        add_feed(feeds, self->inputs[i], value.ptr());
      }
    }
    for (const Array& a : self->fixed) feeds.arrays.push_back(a);
    const nb::object alive = nb::borrow(object);
    if (!feeds.tensors.empty()) compute_fed_tensors(self, feeds);
    const Arrays outputs =
        feeds.some_missing ? run_without(self, feeds) : run(self->function, feeds.arrays);
    if (!pending_warnings.empty()) show_warnings();
    const nb::object results = nb::steal(list_of(outputs, self->n_returned));
    if (!self->returns_bare) return nb::object(results).release().ptr();
    return nb::borrow(PyList_GET_ITEM(results.ptr(), 0)).release().ptr();
  });
}

void dealloc_function(PyObject* object) {
  auto* self = reinterpret_cast<PyFunction*>(object);
  if (self->weak_references) PyObject_ClearWeakRefs(object);
  delete self->state;
  PyTypeObject* type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

PyObject* repr_function(PyObject* object) {
  const FunctionState* self = state_of(object);
  return PyUnicode_FromFormat("<K.function \"%s\" of %zu inputs and %zu outputs>",
                              self->name.c_str(), self->inputs.size(), self->n_returned);
}

PyTypeObject* function_type = nullptr;

Input input_of(const Tensor& t) {
  Input in;
  in.is_open = !t.defined();
  if (in.is_open) return in;
  in.dtype = t.dtype();
  in.is_phase = hooks::is_learning_phase(t);
  in.is_sparse = t.is_sparse();
  return in;
}

/// An update op, or a pair (variable, new value).
Update update_of(Call& call, handle item) {
  if (is_tensor(item.ptr())) return Update(call.tensor(item));
  const bool is_pair = (PyTuple_Check(item.ptr()) || PyList_Check(item.ptr())) &&
                       PySequence_Fast_GET_SIZE(item.ptr()) == 2;
  if (!is_pair)
    throw TypeError(
        std::string(
            "function: updates must be results of K.update, or pairs (variable, new value); got ") +
        repr_of(item) + ".");
  const Variable v =
      call.variable(PySequence_Fast_GET_ITEM(item.ptr(), 0), "the first of an update pair");
  return Update(v, call.tensor(PySequence_Fast_GET_ITEM(item.ptr(), 1), v.dtype()));
}

/// inputs: tensors and None; outputs: tensors; updates; fetches: tensors to compute but not return;
/// fixed: pairs (tensor, value) from feed_dict; name; whether inputs and outputs were a tensor, not in a list.
nb::object make_function(nb::sequence inputs, nb::sequence outputs, nb::sequence updates,
                         nb::sequence fetches, nb::sequence fixed, const char* name,
                         bool takes_bare, bool returns_bare) {
  Call call("function");
  auto self = std::make_unique<FunctionState>();
  self->name = *name ? name : "function";
  self->takes_bare = takes_bare;
  self->returns_bare = returns_bare;
  for (handle t : inputs) {
    // A number stands for a learning phase that was fixed: whatever is fed for it is ignored.
    const bool is_open = t.is_none() || PyLong_Check(t.ptr());
    if (!is_open && !is_tensor(t.ptr()))
      throw TypeError(std::string("function: inputs must be tensors; got ") + repr_of(t) + ".");
    self->input_tensors.push_back(is_open ? Tensor() : call.tensor(t));
    self->inputs.push_back(input_of(self->input_tensors.back()));
  }
  for (handle pair : fixed) {
    const nb::tuple item = nb::borrow<nb::tuple>(pair);
    const Tensor t = call.tensor(item[0]);
    self->input_tensors.push_back(t);
    self->inputs.push_back(input_of(t));
    // A copy, so that the program does not change if the caller writes to the array.
    self->fixed.push_back(array_from(nb::object(item[1]), t.dtype(), "function").copy());
  }
  for (handle t : outputs) {
    self->output_tensors.push_back(call.tensor(t));
    const size_t rank = self->output_tensors.back().ndim();
    if (rank > kMaxRank)
      throw ValueError("function: output " + std::to_string(self->output_tensors.size() - 1) +
                       " has " + std::to_string(rank) + " dimensions; NumPy takes up to " +
                       std::to_string(kMaxRank) + ".");
  }
  self->n_returned = self->output_tensors.size();
  for (handle t : fetches) self->output_tensors.push_back(to_dense(call.tensor(t)));
  for (handle item : updates)
    if (!item.is_none()) self->updates.push_back(update_of(call, item));
  {
    const Unlocked unlocked;
    self->function =
        function(self->input_tensors, self->output_tensors, self->updates, {.name = self->name});
  }
  if (!pending_warnings.empty()) show_warnings();
  PyFunction* made = PyObject_New(PyFunction, function_type);
  if (!made) nb::raise_python_error();
  made->vectorcall = call_function;
  made->weak_references = nullptr;
  made->state = self.release();
  return nb::steal(reinterpret_cast<PyObject*>(made));
}

/// Leaves out outputs that are only fetched.
void export_function(Any object, nb::bytes path) {
  const FunctionParts parts = parts_of(object, "export_onnx");
  const FunctionState& state = *state_of(object.ptr());
  if (!state.fixed.empty()) throw ValueError("export_onnx: the function must have no feed_dict.");
  Function f = state.function;
  if (parts.outputs.size() < state.output_tensors.size())
    f = function(parts.inputs, parts.outputs, parts.updates, {.name = state.name});
  const nb::object alive = nb::borrow(object);
  const Unlocked unlocked;
  export_onnx(f, std::string(path.c_str(), path.size()));
}

}  // namespace

FunctionParts parts_of(handle object, const char* who) {
  if (Py_TYPE(object.ptr()) != function_type)
    throw TypeError(std::string(who) + ": function must be a result of K.function; got " +
                    repr_of(object) + ".");
  const FunctionState& p = *state_of(object.ptr());
  const auto end = p.output_tensors.begin() + static_cast<int64_t>(p.n_returned);
  return {p.input_tensors, Tensors(p.output_tensors.begin(), end), p.updates};
}

void show_warnings() {
  while (!pending_warnings.empty()) {
    const std::string text = std::move(pending_warnings.front());
    pending_warnings.erase(pending_warnings.begin());
    const auto show = [&] {
      if (!log_handler) return PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) == 0;
      return nb::steal(PyObject_CallFunction(log_handler, "ss", "warning", text.c_str()))
          .is_valid();
    };
    if (!show()) {
      pending_warnings.clear();
      nb::raise_python_error();
    }
  }
}

void init_function(nb::module_& m) {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyFunction, vectorcall), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(PyFunction, weak_references), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  };
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc_function)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_repr, reinterpret_cast<void*>(repr_function)},
      {Py_tp_members, members},
      {Py_tp_doc,
       const_cast<char*>("A program that takes a list of values and gives a list of arrays.")},
      {0, nullptr}};
  PyType_Spec spec = {
      "horngate._horngate.Function", sizeof(PyFunction), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!function_type) nb::raise_python_error();
  m.attr("Function") = handle(reinterpret_cast<PyObject*>(function_type));

  m.def("function", &make_function, "See horngate.function.");
  m.def("export_onnx", &export_function, "See horngate.export.export_onnx.");
  m.def(
      "profile_start",
      [](nb::bytes path) { profile_start(std::string(path.c_str(), path.size())); },
      "See horngate.profile.trace.");
  m.def(
      "set_log_handler",
      [](Any handler) {
        PyObject* before = log_handler;
        log_handler = handler.is_none() ? nullptr : Py_NewRef(handler.ptr());
        Py_XDECREF(before);
      },
      "See horngate._log.set_log_handler.");
  m.def("profile_stop", &profile_stop, "See horngate.profile.trace.");
  hooks::set_interrupt_check(&check_signals);
  hooks::set_print_handler(&print_line);
  hooks::set_warning_handler([](const std::string& text) { pending_warnings.push_back(text); },
                             &tell_warnings);
}

}  // namespace horngate::python
