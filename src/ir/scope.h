// Thread-local state of graph building: name scopes and the depth of body traces.
#pragma once

#include <memory>
#include <string>

namespace horngate {

/// "outer/inner/" for the scopes open on this thread, or empty.
const std::string& current_scope();
void push_scope(std::string_view name);
void pop_scope();

/// The name, made unique among those given out since the last clear_session: "dense/kernel",
/// "dense/kernel_1", ...
std::string unique_name(std::string_view name);
void reset_names();

/// How many bodies are being traced on this thread, one inside the other: 0 outside.
uint32_t trace_level();
void set_trace_level(uint32_t level);

}  // namespace horngate
