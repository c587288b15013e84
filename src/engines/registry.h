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
  std::string path;  // empty for native
  bool has(uint64_t cap) const { return api->caps & cap; }
  bool is_native() const;

  // The functions of the interface. What an engine says or, against the rules, throws is thrown as our error.
  bool supports(const hg_graph* graph, uint32_t node) const;
  void* compile(const Graph& graph) const;
  void run(void* executable, const hg_buffer* in, hg_buffer* out, const hg_run* run) const;
  void free_executable(void* executable) const noexcept;
  /// What an executable keeps, as far as the engine tells; 0: it does not.
  size_t executable_bytes(void* executable) const;
  /// What one of native keeps besides: values that it derived from variables.
  size_t derived_bytes(const void* executable) const;
};

const Engine& native_engine();
/// Runs a graph with one output once, on native; false when that fails.
bool evaluate(const Graph& graph, std::span<const Array> in, Array& out);
/// Bytes that all executables of native derived from variables.
size_t derived_bytes_held();
/// Gives memory that no run uses back to the system.
void release_idle_memory();
/// Loads and opens an engine once per process. The error says what exists and how to get the one asked for;
/// `origin` tells where the name came from ("KERAS_BACKEND", a file, "set_engine").
const Engine& find_engine(const std::string& name, const std::string& origin = {});
/// The engine of the configuration; opens it and prints its line the first time.
const Engine& current_engine();
/// Forgets the current engine, so that the next use reads the configuration again.
void reset_current_engine();

}  // namespace horngate
