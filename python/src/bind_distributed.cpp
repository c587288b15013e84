// Operations of all ranks on arrays.
#include "horngate/distributed.h"

#include <nanobind/stl/string.h>

#include "call.h"
#include "function.h"
#include "sections.h"
#include "text.h"

namespace horngate::python {
namespace {

namespace dist = horngate::distributed;

PyObject* comm_error = nullptr;  // the Python class

const char* name_of(dist::Trouble trouble) {
  constexpr const char* kNames[] = {"none",     "timeout",     "lost",     "left",
                                    "given_up", "interrupted", "mismatch", "other"};
  return kNames[static_cast<int>(trouble)];
}

/// Raises it with its rank and reason as attributes. What a signal handler raised meanwhile says more.
void set_comm_error(const dist::CommError& e) {
  if (PyErr_Occurred()) return;
  const nb::object text = nb::steal(readable(e.what()));
  if (!text.is_valid()) return;
  const nb::object error = nb::borrow(comm_error)(text);
  error.attr("rank") = e.rank() < 0 ? nb::object(nb::none()) : nb::object(nb::int_(e.rank()));
  error.attr("reason") = name_of(e.trouble());
  PyErr_SetObject(comm_error, error.ptr());
}

dist::ReduceOptions options_of(const char* function, const std::string& op,
                               const std::string& order, const std::string& name) {
  constexpr const char* kOps[] = {"sum", "average", "min", "max", "prod"};
  constexpr const char* kOrders[] = {"auto", "ordered", "library"};
  dist::ReduceOptions options{.name = name};
  const auto find = [&](auto& names, const std::string& text, const char* argument) {
    for (size_t i = 0; i < std::size(names); ++i)
      if (text == names[i]) return i;
    std::string known;
    for (const char* one : names) known += std::string(known.empty() ? "\"" : ", \"") + one + '"';
    throw ValueError(std::string(function) + ": " + argument + " must be one of " + known +
                     "; got \"" + text + "\".");
  };
  options.op = static_cast<dist::Reduce>(find(kOps, op, "op"));
  options.order = static_cast<dist::Order>(find(kOrders, order, "order"));
  return options;
}

/// Runs an operation of all ranks without the GIL: others of this process's threads may have to run for it to end.
template <class F>
nb::object result_of(const char* function, handle x, F operation) {
  Call call(function);
  // Not by way of NumPy, which may not know bfloat16.
  const Array in =
      is_tensor(x.ptr()) ? get_value(call.variable(x, "value")) : array_from(x, {}, function);
  const Array out = [&] {
    const Unlocked unlocked;
    return operation(in);
  }();
  return nb::steal(to_numpy(out));
}

template <class F>
auto without_gil(F operation) {
  const Unlocked unlocked;
  return operation();
}

}  // namespace

void bind_distributed(nb::module_& m) {
  comm_error = PyErr_NewExceptionWithDoc(
      "horngate.distributed.CommError",
      "The ranks cannot go on together. `rank` is the one to blame, or None; `reason` is one of "
      "timeout, lost, left, given_up, mismatch, other.",
      PyExc_RuntimeError, nullptr);
  m.attr("CommError") = nb::borrow(comm_error);
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const dist::CommError& e) {
      set_comm_error(e);
    }
  });

  m.def("comm_init", [] { without_gil(dist::init); });
  m.def("comm_is_initialized", [] { return without_gil(dist::is_initialized); });
  m.def("comm_shutdown", [] { without_gil(dist::shutdown); });
  m.def("comm_rank", [] { return without_gil(dist::rank); });
  m.def("comm_size", [] { return without_gil(dist::size); });
  m.def("comm_local_rank", [] { return without_gil(dist::local_rank); });
  m.def("comm_local_size", [] { return without_gil(dist::local_size); });
  m.def("comm_host", [](int rank) {
    return nb::steal(readable(without_gil([&] { return dist::host(rank); })));
  });
  m.def("comm_barrier", [] { without_gil(dist::barrier); });
  m.def("comm_shrink", [] { without_gil(dist::shrink); });
  m.def("comm_give_up", [](const std::string& why) {
    const Unlocked unlocked;
    dist::give_up(why);
  });

  m.def("comm_all_reduce", [](Any x, const std::string& op, const std::string& order,
                              const std::string& name) {
    const dist::ReduceOptions options = options_of("allreduce", op, order, name);
    return result_of("allreduce", x, [&](const Array& a) { return dist::all_reduce(a, options); });
  });
  m.def("comm_reduce_scatter",
        [](Any x, const std::string& op, const std::string& order, const std::string& name) {
          const dist::ReduceOptions options = options_of("reducescatter", op, order, name);
          return result_of("reducescatter", x,
                           [&](const Array& a) { return dist::reduce_scatter(a, options); });
        });
  m.def("comm_all_gather", [](Any x, const std::string& name) {
    return result_of("allgather", x, [&](const Array& a) { return dist::all_gather(a, name); });
  });
  m.def("comm_all_to_all", [](Any x, const std::string& name) {
    return result_of("alltoall", x, [&](const Array& a) { return dist::all_to_all(a, name); });
  });
  m.def("comm_broadcast", [](Any x, int root, const std::string& name) {
    return result_of("broadcast", x,
                     [&](const Array& a) { return dist::broadcast(a, root, name); });
  });
  m.def("comm_broadcast_variables", [](Any variables, int root) {
    Call call("broadcast_variables");
    std::vector<Variable> all;
    for (handle v : nb::borrow<nb::sequence>(variables))
      all.push_back(call.variable(v, "variables"));
    const Unlocked unlocked;
    dist::broadcast_variables(all, root);
  });
}

}  // namespace horngate::python
