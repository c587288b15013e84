// Functions, gradients, values of variables, updates.
#include "horngate/function.h"

#include <algorithm>

#include "api/args.h"
#include "grad/explain.h"
#include "grad/reverse.h"
#include "horngate/explain.h"
#include "plan/function_impl.h"

namespace horngate {
namespace {

/// An error if an integer of a constant would wrap around in the variable's dtype.
void check_fits(const char* function, const VariableState& state, const Array& value) {
  const DType to = state.type.dtype;
  const int bits = 8 * static_cast<int>(size_of(to)) - is_signed_int(to);
  const uint64_t most = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const Array wide = value.cast(is_signed_int(value.dtype()) ? DType::int64 : DType::uint64);
  const uint64_t* at = static_cast<const uint64_t*>(wide.raw());
  for (int64_t i = 0; i < wide.size(); ++i) {
    const bool is_negative = wide.dtype() == DType::int64 && static_cast<int64_t>(at[i]) < 0;
    const bool fits = is_negative ? is_signed_int(to) && ~at[i] <= most : at[i] <= most;
    check(fits, function, "variable \"", state.name, "\" is ", to, ", which cannot hold ",
          is_negative ? "-" : "", is_negative ? 0 - at[i] : at[i], ".");
  }
}

Tensor make_update(const char* function, const Variable& x, const Number& value, const char* kind,
                   double momentum = 0) {
  const CalledAs called(function);
  const VariableState& state = variable_state(x, function);
  const DType dtype = state.type.dtype;
  check<TypeError>(!state.type.sparse, function, "the sparse variable \"", state.name,
                   "\" cannot be updated.");
  check<TypeError>(value.is_number() || value.tensor().defined(), function,
                   "the new value is empty (a gradient that is None?).");
  Tensor beside = x;
  const Tensor t = value.is_number() ? weak_scalar(value.value(), &beside)
                                     : dense_operand(function, value.tensor(), "the new value");
  // What would be lost without a word: fractions, and the digits of a number that does not fit.
  check<TypeError>(!is_int(dtype) || !is_float(t.dtype()), function, "variable \"", state.name,
                   "\" is ", dtype, "; got a value of ", t.dtype(),
                   value.is_number() ? text_of(" (", value.value(), ")") : "",
                   ". Use cast() if that is meant.");
  if (is_int(dtype) && is_int(t.dtype()) && t.node()->prim == Prim::constant)
    check_fits(function, state, t.node()->as<attrs::constant>().value);
  return emit(attrs::assign{.kind = kind, .momentum = momentum}, {x, prim::cast(t, dtype)});
}

/// Whether builders of the graph could read its value.
bool is_known(const Tensor& t) {
  if (t.node()->prim == Prim::constant || prim::is_scalar_constant(t)) return true;
  Ints ints;
  return prim::known_ints(t, &ints) && !ints.empty() &&
         std::find(ints.begin(), ints.end(), kFromOperand) == ints.end();
}

void set_values(std::vector<std::pair<Variable, Array>> values) {
  std::vector<VariableState*> states;
  Arrays fresh;
  for (auto& [x, value] : values) {
    VariableState& v = variable_state(x, "set_value");
    check<TypeError>(!v.type.sparse, "set_value", "the sparse variable \"", v.name,
                     "\" cannot be changed.");
    check<TypeError>(!value.is_sparse(), "set_value", "variable \"", v.name,
                     "\" takes a dense array; got a sparse one.");
    check(value.defined() && value.shape() == v.type.shape, "set_value", "variable \"", v.name,
          "\" has shape ", v.type.shape, "; got a value of shape ", value.shape(), ".");
    check<RuntimeError>(!FunctionImpl::is_updated_by_this_thread(v), "set_value", "variable \"",
                        v.name,
                        "\" is being updated by a call on this thread; set it after that call.");
    states.push_back(&v);
    fresh.push_back(owned(std::move(value), v.type.dtype));
  }
  const std::vector<VariableState*> sorted = in_id_order(states);
  const VariableLocks writers(states);
  const ForkHold hold;
  for (VariableState* v : sorted) v->guard.lock();
  for (size_t i = 0; i < states.size(); ++i) {
    states[i]->value = std::move(fresh[i]);
    states[i]->is_new();
  }
  for (VariableState* v : sorted) v->guard.unlock();
}

}  // namespace

Update::Update(const Variable& variable, const Tensor& value) : op_(update(variable, value)) {}

Arrays Function::operator()(std::span<const Array> inputs) const {
  check(impl_ != nullptr, "function",
        "this Function is empty: make one with function(inputs, outputs).");
  return impl_->call(inputs);
}

Function function(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                  const std::vector<Update>& updates, const FunctionOptions& options) {
  for (size_t i = 0; i < inputs.size(); ++i)
    check(!inputs[i].defined() || !is_known(inputs[i]),
          options.name.empty() ? "function" : options.name, "input ", i,
          " is a constant, and the graph may already use its value. To feed it, make it "
          "a placeholder or a variable.");
  Tensors ops;
  for (const Update& u : updates)
    if (u.op().defined()) ops.push_back(u.op());
  return Function(std::make_shared<FunctionImpl>(inputs, outputs, ops, options.name));
}

Tensors gradients(const Tensor& loss, const std::vector<Tensor>& variables,
                  const GradientsOptions& options) {
  const CalledAs called(__func__);
  check(loss.defined(), "gradients", "the loss is empty.");
  for (const Tensor& v : variables) check(v.defined(), "gradients", "a target is empty.");
  Tensors out(variables.size());
  if (is_float(loss.dtype())) out = reverse({loss}, {prim::full_like(loss, 1.0)}, variables, false);
  if (options.strict)
    for (size_t i = 0; i < out.size(); ++i)
      if (!out[i].defined())
        fail("gradients (strict)", explain_gradient_of(loss, variables[i]).text);
  return out;
}

std::string explain_gradient(const Tensor& loss, const Tensor& x) {
  check(loss.defined(), "explain_gradient", "the loss is empty.");
  check(x.defined(), "explain_gradient", "x is empty.");
  const CalledAs called("gradients");
  const GradientReport report = explain_gradient_of(loss, x);
  const char* start = "The gradient is not None: ";
  if (report.kind == GradientReport::none) start = "The gradient is None because ";
  if (report.kind == GradientReport::zero) start = "The gradient is zero everywhere because ";
  return start + report.text;
}

Array eval(const Tensor& x) {
  check(x.defined(), "eval", "the tensor is empty.");
  if (x.node()->prim == Prim::variable) return get_value(Variable(x));
  return function({}, {x}, {}, {.name = "eval"})()[0];
}

Array initial_value(const Tensor& x) {
  return FunctionImpl({}, {x}, {}, "initial value", &native_engine()).call({})[0];
}

Array get_value(const Variable& x) {
  VariableState& v = variable_state(x, "get_value");
  Array held;
  {
    std::shared_lock lock(v.guard);
    held = v.value;
  }
  // `held` keeps this version alive; an update meanwhile goes to other memory.
  return held.copy();
}

Arrays batch_get_value(const std::vector<Variable>& xs) {
  std::vector<VariableState*> states;
  for (const Variable& x : xs) states.push_back(&variable_state(x, "batch_get_value"));
  const std::vector<VariableState*> sorted = in_id_order(states);
  Arrays held;
  {
    const ReadLocks locks(sorted);
    for (VariableState* v : states) held.push_back(v->value);
  }
  for (Array& a : held) a = a.copy();
  return held;
}

void set_value(const Variable& x, const Array& value) { set_values({{x, value}}); }
void set_value(const Variable& x, Array&& value) {
  std::vector<std::pair<Variable, Array>> one;
  one.emplace_back(x, std::move(value));
  set_values(std::move(one));
}
void batch_set_value(const std::vector<std::pair<Variable, Array>>& tuples) { set_values(tuples); }
Tensor update(const Variable& x, const Number& new_x) {
  return make_update(__func__, x, new_x, "set");
}
Tensor update_add(const Variable& x, const Number& increment) {
  return make_update(__func__, x, increment, "add");
}
Tensor update_sub(const Variable& x, const Number& decrement) {
  return make_update(__func__, x, decrement, "sub");
}
Tensor moving_average_update(const Variable& x, const Number& value, double momentum) {
  const VariableState& state = variable_state(x, __func__);
  check<TypeError>(is_float(state.type.dtype), __func__, "variable \"", state.name,
                   "\" must be of a float dtype; got ", state.type.dtype, ".");
  return make_update(__func__, x, value, "lerp", momentum);
}

}  // namespace horngate
