// The native engine; its table of functions is hg_native_engine in engine.h.
#pragma once

#include "horngate/engine.h"
#include "ir/graph.h"

namespace horngate::native {

/// Like its `compile`, but without the C form, through which a large graph would be held three times. Throws.
void* compile_graph(const Graph& graph);

/// Bytes that all executables hold for what they derived from variables.
size_t derived_bytes_held();

}  // namespace horngate::native
