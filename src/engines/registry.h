// Engines by name: the built-in one, and plug-ins from the library's own folder or HORNGATE_ENGINE_PATH.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "horngate/engine.h"
#include "horngate/engines.h"
#include "ir/graph.h"

namespace horngate {

/// An engine that is loaded and open.
struct Engine {
  const hg_engine_api* api = nullptr;
  void* self = nullptr;
  std::string path;     // of a plug-in; empty for a built-in engine
  int32_t threads = 0;  // as requested by the user
  /// Built-in engines take graphs directly: via the C form a large one would be held three times.
  void* (*compile_graph)(const Graph& graph) = nullptr;
  bool has(uint64_t cap) const { return api->caps & cap; }

  // The functions of the interface. Whatever an engine reports or, against the rules, throws becomes our error.
  bool supports(const hg_graph* graph, uint32_t node) const;
  void* compile(const Graph& graph) const;
  void run(void* executable, const hg_buffer* const* in, hg_buffer* const* out,
           const hg_run* run) const;
  void free_executable(void* executable) const noexcept;
  /// The memory that an executable holds, or 0 if the engine does not tell.
  size_t executable_bytes(void* executable) const;
  // Only with HG_CAP_OWN_MEMORY.
  void* alloc(size_t bytes) const;
  void free(void* data) const noexcept;
  void copy(void* to, const void* from, size_t bytes, int direction) const;
};

const Engine& native_engine();
/// Runs a graph with one output once, on native; false if that fails.
bool evaluate(const Graph& graph, std::span<const Array> in, Array& out);
/// Returns memory that no run uses to the system.
void release_idle_memory();
/// Loads and opens an engine once per process. The error lists what exists and how to get the one asked for;
/// `origin` tells where the name came from ("KERAS_BACKEND", a file, "set_engine").
const Engine& find_engine(const std::string& name, const std::string& origin = {});
/// The configured engine; the first time, opens it and prints its line.
const Engine& current_engine();
/// Forgets the current engine, so that the next use reads the configuration again.
void reset_current_engine();

}  // namespace horngate
