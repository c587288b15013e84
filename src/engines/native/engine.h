// Entry point of the native engine: what a plug-in exports as hg_engine_main.
#pragma once

#include "horngate/engine.h"
#include "ir/graph.h"

namespace horngate::native {

const hg_engine_api* engine_main(uint32_t host_abi);

/// What its `compile` gives, without the detour over the C form: a large graph is not held three times. Throws.
void* compile_graph(const Graph& graph);

/// Bytes that such an executable keeps of what it derived from variables, and that all of them do.
size_t derived_bytes_of(const void* executable);
size_t derived_bytes_held();

}  // namespace horngate::native
