// Hooks for bindings: access to parts of src/plan and src/ir.
#include "horngate/hooks.h"

#include "api/args.h"
#include "ir/check.h"
#include "ir/node.h"
#include "ir/warn.h"
#include "plan/function_impl.h"

namespace horngate::hooks {

void set_interrupt_check(int (*check)()) { horngate::set_interrupt_check(check); }
void set_print_handler(LineHandler handler) { horngate::set_print_handler(std::move(handler)); }
void set_warning_handler(LineHandler handler, void (*tell)()) {
  horngate::set_warning_handler(std::move(handler), tell);
}

Array initial_value(const Tensor& t) { return horngate::initial_value(t); }

void*& wrapper_slot(const Tensor& t) {
  check(t.defined(), "tensor", "the tensor is empty.");
  return t.node()->wrapper;
}

bool uses_learning_phase(const Tensor& t) {
  return t.defined() && (t.node()->flags & kUsesLearningPhase) != 0;
}

bool is_learning_phase(const Tensor& t) {
  return t.defined() && t.node()->prim == Prim::learning_phase;
}

int64_t live_node_count() { return horngate::live_node_count(); }

}  // namespace horngate::hooks
