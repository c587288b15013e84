// Between our graphs and the C form of engine.h.
#pragma once

#include <memory>

#include "horngate/engine.h"
#include "ir/graph.h"

namespace horngate {

/// A graph in C form, with all the memory that it points at.
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

/// The way back, for the engines that are part of the library. Constants are copied.
Graph import_graph(const hg_graph& graph);

TensorType import_type(const hg_type& type);

/// A type as engines get it; it points at the dimensions.
hg_type c_type(const TensorType& type);
/// Memory of a value, as engines get it.
hg_buffer buffer_of(const hg_type& type, size_t bytes, void* data = nullptr);

}  // namespace horngate
