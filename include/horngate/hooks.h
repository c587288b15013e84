// For bindings to other languages: interruption, lines of print_tensor, warnings, and one wrapper per tensor.
// C++ programs need none of this.
#pragma once

#include <functional>
#include <string>

#include "horngate/tensor.h"

namespace horngate::hooks {

using LineHandler = std::function<void(const std::string&)>;

/// Called about every 20 ms during a call, on the calling thread; non-zero ends the call with Interrupted.
HORNGATE_API void set_interrupt_check(int (*check)());
/// Receives the lines of print_tensor, on the calling thread, while locks of variables are held: it may wait
/// only for what no caller of the library holds. If unset, they go to standard error. What it throws ends the call.
HORNGATE_API void set_print_handler(LineHandler handler);
/// Receives warnings, under the same rule, unless there is a handler of set_log_handler. If unset, they go to standard
/// error. `tell`, if given, is called by each call of a function before it changes variables: a binding that has put
/// warnings off shows them then, and what it throws ends the call.
HORNGATE_API void set_warning_handler(LineHandler handler, void (*tell)() = nullptr);

/// The value of a tensor that needs no feeds, always computed by native: initial values of variables have the
/// same bits on every engine and cost none of them a compilation.
[[nodiscard]] HORNGATE_API Array initial_value(const Tensor& t);

/// A word in the tensor's node that belongs to the binding: null at first, never read by the library. All
/// outputs of a node share it. The binding synchronises access (Python: with the GIL held) and clears it while
/// it still holds the node.
[[nodiscard]] HORNGATE_API void*& wrapper_slot(const Tensor& t);
/// Whether the value may depend on the learning phase.
[[nodiscard]] HORNGATE_API bool uses_learning_phase(const Tensor& t);
/// Whether it is the result of learning_phase(), now or before a clear_session.
[[nodiscard]] HORNGATE_API bool is_learning_phase(const Tensor& t);
/// Nodes alive in the process; tests find leaks with it.
[[nodiscard]] HORNGATE_API int64_t live_node_count();

}  // namespace horngate::hooks
