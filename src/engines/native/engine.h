// The native engine; its table of functions is hg_native_engine in engine.h.
#pragma once

#include "horngate/engine.h"
#include "ir/graph.h"

namespace horngate::native {

/// What its `compile` gives, without the detour over the C form: a large graph is not held three times. Throws.
void* compile_graph(const Graph& graph);

/// Bytes that all executables keep of what they derived from variables.
size_t derived_bytes_held();

}  // namespace horngate::native
