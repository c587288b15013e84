// Bodies of scan and cond.
#include "prims/bodies.h"

#include <algorithm>
#include <unordered_set>

#include "ir/per_thread.h"
#include "ir/scope.h"
#include "ir/tensor_key.h"

namespace horngate {
namespace {

bool is_leaf(const Node& n) {
  switch (n.prim) {
    case Prim::placeholder:
    case Prim::variable:
    case Prim::draw:
    case Prim::learning_phase: return true;
    case Prim::constant: return !is_small_constant(n);
    default: return false;
  }
}

thread_local PerThread<Tensor> step_of_trace;

}  // namespace

Tensor make_parameter(const TensorType& type, uint32_t level) {
  const uint32_t before = trace_level();
  set_trace_level(level);
  Tensor t = emit(attrs::parameter{.dtype = type.dtype, .shape = type.shape.dims()}, {});
  set_trace_level(before);
  return t;
}

Tensors find_captures(const Tensors& results, const Tensors& params, const IsInside& inside) {
  std::unordered_set<TensorKey, TensorKeyHash> cut, seen;
  for (const Tensor& p : params) cut.insert(key_of(p));
  std::unordered_set<const Node*> visited;
  Tensors captures;
  Tensors stack(results.rbegin(), results.rend());
  while (!stack.empty()) {
    const Tensor t = std::move(stack.back());
    stack.pop_back();
    if (cut.count(key_of(t))) continue;
    const Node& n = *t.node();
    // Small constants made in the body stay in it; so do integers from outside, which may decide shapes there.
    if (is_small_constant(n) && (inside(n) || !is_float(t.dtype()))) continue;
    // A value read after updates outside the body is captured: only the graph of the updates knows their order.
    const bool is_around = n.prim == Prim::after && n.in.size() > 1 &&
                           std::none_of(n.in.begin(), n.in.end(), [&](const Tensor& operand) {
                             return inside(*operand.node());
                           });
    if (is_leaf(n) || is_around || !inside(n)) {
      if (seen.insert(key_of(t)).second) captures.push_back(t);
      continue;
    }
    if (!visited.insert(&n).second) continue;
    check(n.prim != Prim::parameter, called_function ? called_function : "rnn",
          "a tensor of a finished step function is used in another one (node \"", display_name(n),
          "\").");
    for (size_t i = n.in.size(); i-- > 0;) stack.push_back(n.in[i]);
  }
  return captures;
}

bool is_made_since(uint64_t begin, const Node& n) {
  return n.id >= begin && !(n.prim == Prim::tape && n.in[0].node()->id < begin);
}

void refuse_updates(std::string_view function, std::string_view where, const Tensors& results,
                    uint64_t begin) {
  std::unordered_set<const Node*> visited;
  std::vector<const Node*> stack;
  const auto visit = [&](const Tensor& t) {
    if (t.node()->id >= begin && visited.insert(t.node()).second) stack.push_back(t.node());
  };
  for (const Tensor& t : results) visit(t);
  while (!stack.empty()) {
    const Node& n = *stack.back();
    stack.pop_back();
    check(n.prim != Prim::assign, function, where, " updates variable \"", n.in[0].name(),
          "\"; updates belong outside it.");
    for (const Tensor& t : n.in) visit(t);
  }
}

TraceScope::TraceScope() : level_(trace_level() + 1) { set_trace_level(level_); }
TraceScope::~TraceScope() { set_trace_level(level_ - 1); }

Tensor current_step() { return *step_of_trace; }
void set_current_step(Tensor step) { *step_of_trace = std::move(step); }

}  // namespace horngate
