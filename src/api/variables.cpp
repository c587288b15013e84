// Variables, placeholders, constants.
#include "horngate/ops/variables.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "engines/registry.h"
#include "horngate/config.h"
#include "horngate/ops/control.h"
#include "ir/checked.h"
#include "ir/fork.h"
#include "ir/scope.h"
#include "prims/build.h"

namespace horngate {

Array zeros_array(Ints dims) { return Array::zeros(floatx(), std::move(dims)); }
Array ones_array(Ints dims) { return Array::full(floatx(), std::move(dims), 1.0); }

Variable variable(const Array& value, const VariableOptions& options) {
  return variable(Array(value), options);
}

Variable variable(Array&& value, const VariableOptions& options) {
  check(value.defined(), "variable", "value must be an array; got an empty one.");
  const DType dtype = options.dtype.value_or(value.dtype());
  const TensorType type(dtype, value.shape(), value.is_sparse());
  auto state = make_ref<VariableState>(type, owned(std::move(value), dtype));
  state->name = unique_name(options.name.empty() ? "variable" : options.name);
  state->constraint = options.constraint;
  const std::string name = state->name;
  return Variable(emit(attrs::variable{.state = std::move(state)}, {}, {}, name));
}

const Constraint& constraint_of(const Variable& x) {
  return variable_state(x, "constraint_of").constraint;
}

namespace {
constexpr int64_t kMostAxes = 64;  // as many as NumPy allows
}

Tensor placeholder(const PlaceholderOptions& o) {
  check(static_cast<bool>(o.shape) || o.ndim.has_value(), "placeholder",
        "shape or ndim must be given.");
  check(!o.ndim || *o.ndim >= 0, "placeholder", "ndim must be at least 0; got ", o.ndim.value_or(0),
        ".");
  check(!o.ndim || *o.ndim <= kMostAxes, "placeholder", "ndim must be at most ", kMostAxes,
        "; got ", o.ndim.value_or(0), ".");
  const Ints dims = o.shape ? o.shape->dims() : Ints(static_cast<size_t>(*o.ndim), Shape::kUnknown);
  check(std::all_of(dims.begin(), dims.end(), [](int64_t d) { return d >= Shape::kUnknown; }),
        "placeholder", "shape must have entries of at least 0, or None; got ", dims, ".");
  check(!o.sparse || dims.size() == 2, "placeholder",
        "a sparse placeholder has two dimensions; got shape ", Shape(dims), ".");
  const std::string name = unique_name(o.name.empty() ? "placeholder" : o.name);
  return emit(
      attrs::placeholder{.dtype = o.dtype.value_or(floatx()), .shape = dims, .sparse = o.sparse},
      {}, {}, name);
}

Tensor constant(const Array& value, const ConstantOptions& o) {
  check(value.defined(), "constant", "value must be an array; got an empty one.");
  check<TypeError>(!value.is_sparse(), "constant",
                   "value must be dense; got a sparse array. Use variable().");
  Array a = value.cast(o.dtype.value_or(value.dtype())).contiguous();
  if (a.raw() == value.raw())
    a = a.copy();  // so that later writes to the caller's array do not change the program
  if (o.shape && !(*o.shape == a.shape())) {
    check(o.shape->is_static(), "constant", "shape must be known; got ", *o.shape, ".");
    check_size("constant", TensorType(a.dtype(), *o.shape));
    if (a.size() == 1) {
      a = Array::view(a.raw(), a.dtype(), o.shape->dims(), Ints(o.shape->ndim(), 0)).copy();
    } else {
      check(a.size() == o.shape->size(), "constant", "shape ", *o.shape, " has ", o.shape->size(),
            " elements but value has ", a.size(), ".");
      a = a.reshape(o.shape->dims());
    }
  }
  return prim::constant(a, o.name.empty() ? std::string() : unique_name(o.name));
}

bool is_placeholder(const Tensor& x) { return x.defined() && x.node()->prim == Prim::placeholder; }
bool is_variable(const Tensor& x) { return x.defined() && x.node()->prim == Prim::variable; }
bool is_sparse(const Tensor& x) { return x.is_sparse(); }

Tensor to_dense(const Tensor& x) {
  const CalledAs called(__func__);
  return x.is_sparse() ? emit(attrs::to_dense{}, {x}) : x;
}

namespace {
constinit std::mutex uid_mutex;
const AtFork at_fork{uid_mutex, ForkOrder::last};
std::map<std::string, int64_t>& uids() {
  static auto* map = new std::map<std::string, int64_t>;
  return *map;
}
}  // namespace

int64_t get_uid(const std::string& prefix) {
  std::lock_guard lock(uid_mutex);
  return ++uids()[prefix];
}

void reset_uids() {
  std::lock_guard lock(uid_mutex);
  uids().clear();
}

void clear_session() {
  reset_uids();
  reset_names();
  reset_learning_phase();
  release_cached_memory();
  release_idle_memory();
}

}  // namespace horngate
