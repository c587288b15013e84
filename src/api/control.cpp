// Choosing between expressions, the learning phase, scopes.
#include "horngate/ops/control.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "api/args.h"
#include "horngate/config.h"
#include "ir/fork.h"
#include "ir/scope.h"
#include "prims/bodies.h"
#include "prims/cond.h"

namespace horngate {
namespace {

constexpr const char* kSwitch = "switch";

/// The phase of the process: fixed, or a flag shared by all graphs.
struct Phase {
  std::optional<bool> fixed;
  Tensor flag;
};

constinit std::mutex phase_mutex;
const AtFork at_fork{phase_mutex, ForkOrder::phase};

// Under the mutex. Never destroyed: graphs may be built while the process ends.
Phase& phase() {
  static Phase* const kPhase = new Phase;
  return *kPhase;
}

template <class T>
std::optional<bool> compared(Prim comparison, T a, T b) {
  switch (comparison) {
    case Prim::eq: return a == b;
    case Prim::ne: return a != b;
    case Prim::lt: return a < b;
    case Prim::le: return a <= b;
    case Prim::gt: return a > b;
    case Prim::ge: return a >= b;
    default: return {};
  }
}

/// A condition that is already certain: Keras compares constants to choose what to build.
std::optional<bool> certain(const Tensor& condition) {
  const Node& n = *condition.node();
  double number = 0;
  if (prim::is_scalar_constant(condition, &number)) return number != 0;
  if (n.prim == Prim::cast && prim::is_scalar_constant(n.in[0], &number)) return number != 0;
  if (n.in.size() != 2) return {};
  const Array *a = prim::scalar_constant(n.in[0]), *b = prim::scalar_constant(n.in[1]);
  if (!a || !b) return {};
  // A double does not tell 2^53 from 2^53 + 1.
  if (is_float(a->dtype())) return compared(n.prim, a->item<double>(), b->item<double>());
  if (a->dtype() == DType::uint64)
    return compared(n.prim, a->item<uint64_t>(), b->item<uint64_t>());
  return compared(n.prim, a->item<int64_t>(), b->item<int64_t>());
}

struct Branches {
  Tensor a, b;
};

// The binding's expressions may be empty when they are asked for the first time: an array takes its dtype from what the
// other one's callable gives, which has to be called first. The second time they are not.

/// Both expressions as tensors of one dtype; a number takes that of the other side.
Branches branches_of(std::string_view function, const Expression& a, const Expression& b,
                     std::string_view name_a, std::string_view name_b) {
  Branches r;
  if (!a.number()) r.a = users(a);
  const bool waits = !a.number() && !r.a.defined();
  if (!a.number() && !waits) r.a = dense_operand(function, r.a, name_a);
  if (!b.number()) r.b = dense_operand(function, users(b), name_b);
  if (waits) r.a = dense_operand(function, users(a), name_a);
  if (a.number() && b.number()) {
    r.a = prim::scalar(*a.number(), floatx());
    r.b = weak_scalar(*b.number(), &r.a);
  } else if (a.number()) {
    r.a = weak_scalar(*a.number(), &r.b);
  } else if (b.number()) {
    r.b = weak_scalar(*b.number(), &r.a);
  }
  unify(function, &r.a, &r.b);
  return r;
}

/// Whether select takes one of two such values whole. Where sizes are open it might broadcast one of them.
bool fit_select(const Shape& a, const Shape& b) {
  if (a.ndim() != b.ndim()) return true;  // a scalar next to a tensor stands for all its elements
  return a.is_static() && a == b;
}

Tensor take_one(const Tensor& condition, const Expression& a, const Expression& b) {
  if (!a.is_callable() && !b.is_callable()) {
    const Branches r = branches_of(kSwitch, a, b, "then_expression", "else_expression");
    check(r.a.ndim() == r.b.ndim() || r.a.ndim() == 0 || r.b.ndim() == 0, kSwitch,
          "both expressions must have the same number of dimensions; got shapes ", r.a.shape(),
          " and ", r.b.shape(), ".");
    if (fit_select(r.a.shape(), r.b.shape())) return prim::select(condition, r.a, r.b);
    return make_cond(  // becomes a select in the plan if the sizes agree
        kSwitch, condition, [&] { return Tensors{r.a}; }, [&] { return Tensors{r.b}; })[0];
  }
  check(!a.number() && !b.number(), kSwitch,
        "a number cannot be combined with a callable; use constant().");
  struct Waits {};
  Branches r;
  const auto check_both = [&] {
    if (!r.a.defined() || !r.b.defined()) return;
    check<TypeError>(r.a.dtype() == r.b.dtype(), kSwitch,
                     "both expressions must have the same dtype; got ", r.a.dtype(), " and ",
                     r.b.dtype(), ".");
    check(r.a.ndim() == r.b.ndim(), kSwitch,
          "both expressions must have the same number of dimensions; got shapes ", r.a.shape(),
          " and ", r.b.shape(), ".");
  };
  bool may_wait = true;
  const auto then_branch = [&] {
    const Tensor value = users(a);
    if (!value.defined() && std::exchange(may_wait, false)) throw Waits{};
    r.a = dense_operand(kSwitch, value, "then_expression");
    check_both();
    return Tensors{r.a};
  };
  const auto else_branch = [&] {
    r.b = dense_operand(kSwitch, users(b), "else_expression");
    check_both();
    return Tensors{r.b};
  };
  try {
    return make_cond(kSwitch, condition, then_branch, else_branch)[0];
  } catch (const Waits&) {
    return make_cond(kSwitch, prim::logical_not(condition), else_branch, then_branch)[0];
  }
}

/// Element by element: axes are added at the end of the condition so that it broadcasts against the branches.
Tensor take_elements(const Tensor& condition, const Expression& a, const Expression& b) {
  const Branches r = branches_of(kSwitch, a, b, "then_expression", "else_expression");
  const size_t rank = std::max(r.a.ndim(), r.b.ndim());
  check(condition.ndim() <= rank, kSwitch,
        "condition must not have more dimensions than the expressions; got shapes ",
        condition.shape(), " and ", r.a.shape(), ".");
  Ints axes;
  for (size_t i = condition.ndim(); i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  const Tensor c = prim::expand_dims(condition, axes);
  check_broadcast(kSwitch, r.a, r.b);
  check_broadcast(kSwitch, c, r.a);
  check_broadcast(kSwitch, c, r.b);
  return prim::select(c, r.a, r.b);
}

Tensor take(std::string_view function, const Expression& e) {
  if (e.number()) return prim::scalar(*e.number(), floatx());
  const Tensor value = users(e);
  return dense_operand(function, value.defined() ? value : users(e));
}

}  // namespace

Tensor switch_(const Tensor& condition, const Expression& then_expression,
               const Expression& else_expression) {
  const CalledAs called(kSwitch);
  const Tensor given = dense_operand(kSwitch, condition, "condition");
  const Tensor c = prim::cast(given, DType::bool_);
  if (c.ndim() > 0) return take_elements(c, then_expression, else_expression);
  const bool one_is_callable = then_expression.is_callable() || else_expression.is_callable();
  if (const std::optional<bool> known = certain(c); known && one_is_callable)
    return own(called, take(kSwitch, *known ? then_expression : else_expression));
  return take_one(c, then_expression, else_expression);
}

/// x in one phase, alt in the other: `x_trains` says which. Errors call them x and alt, as the caller did.
static Tensor by_phase(const char* function, const Expression& x, const Expression& alt,
                       const Training& training, bool x_trains) {
  std::optional<bool> value = training.value();
  Tensor flag = training.tensor();
  if (!value && !flag.defined()) {
    value = fixed_learning_phase();
    if (!value) flag = learning_phase();
  }
  if (value) return take(function, *value == x_trains ? x : alt);
  if (flag.node()->prim != Prim::learning_phase)
    return x_trains ? switch_(flag, x, alt) : switch_(flag, alt, x);
  const uint64_t begin = next_node_id();
  Branches r = branches_of(function, x, alt, "x", "alt");
  // An update would run in both phases.
  refuse_updates(function, "a branch", {r.a, r.b}, begin);
  if (r.a.same_as(r.b)) return r.a;
  if (x.number()) r.a = prim::broadcast_like(r.a, r.b);
  if (alt.number()) r.b = prim::broadcast_like(r.b, r.a);
  check(r.a.ndim() == r.b.ndim(), function,
        "x and alt must have the same number of dimensions; got shapes ", r.a.shape(), " and ",
        r.b.shape(), ".");
  return x_trains ? emit(attrs::phase{}, {r.a, r.b}) : emit(attrs::phase{}, {r.b, r.a});
}

Tensor in_train_phase(const Expression& x, const Expression& alt, const Training& training) {
  const CalledAs called(__func__);
  return own(called, by_phase("in_train_phase", x, alt, training, true));
}

Tensor in_test_phase(const Expression& x, const Expression& alt, const Training& training) {
  const CalledAs called(__func__);
  return own(called, by_phase("in_test_phase", x, alt, training, false));
}

Tensor learning_phase() {
  const std::lock_guard lock(phase_mutex);
  Phase& p = phase();
  if (p.fixed) return prim::constant(Array(*p.fixed));
  if (!p.flag.defined()) p.flag = emit(attrs::learning_phase{}, {}, {}, "keras_learning_phase");
  return p.flag;
}

void set_learning_phase(int64_t value) {
  check(value == 0 || value == 1, "set_learning_phase", "value must be 0 or 1; got ", value, ".");
  const std::lock_guard lock(phase_mutex);
  Phase& p = phase();
  p.fixed = value == 1;
}

std::optional<bool> fixed_learning_phase() {
  const std::lock_guard lock(phase_mutex);
  Phase& p = phase();
  return p.fixed;
}

void reset_learning_phase() {
  const std::lock_guard lock(phase_mutex);
  Phase& p = phase();
  p.fixed.reset();
  p.flag = {};
}

std::string begin_name_scope(std::string_view name) {
  check(!name.empty(), "name_scope", "name must not be empty.");
  push_scope(name);
  return current_scope();
}

void end_name_scope() {
  check<RuntimeError>(!current_scope().empty(), "name_scope", "no scope is open on this thread.");
  pop_scope();
}

void begin_control_dependencies(const Tensors& control_inputs) {
  push_control_dependencies(control_inputs);
}

void end_control_dependencies() { pop_control_dependencies(); }

}  // namespace horngate
