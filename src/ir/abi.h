// Converts between our graphs and the C form of engine.h.
#pragma once

#include <memory>

#include "horngate/engine.h"
#include "ir/graph.h"

namespace horngate {

/// A graph in C form, together with all the memory it points to.
class CGraph {
 public:
  explicit CGraph(const Graph& graph);
  ~CGraph();
  CGraph(const CGraph&) = delete;
  const hg_graph* get() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The reverse, for the engines that are part of the library. Constants are copied.
Graph import_graph(const hg_graph& graph);

TensorType import_type(const hg_type& type);

/// A type as engines see it; it points to the dimensions of `type`.
hg_type c_type(const TensorType& type);
/// The memory of a value, as engines see it.
hg_buffer buffer_of(const hg_type& type, size_t bytes, void* data = nullptr);

}  // namespace horngate
