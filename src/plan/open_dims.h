// Sizes that stay open: what an engine with HG_CAP_FREE_DIMS compiles once for many input sizes.
//
// Nothing here reasons about symbols. A graph is specialised for the sizes of the call and again for sizes that
// nobody uses (a probe). Where the two graphs differ only in numbers, those numbers are left open: dimensions become
// None, shapes and constants become inputs. Every new size is compared in this way, so if the graph is built
// differently for it, it is compiled separately.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ir/fork.h"
#include "ir/graph.h"

namespace horngate {

class Compiled;

/// Types of the inputs with other numbers in unknown dimensions: in all of them, then only in the batch. `open` are
/// the program's types, `now` those of a call. Empty if no dimension is unknown, or one has size 0.
std::vector<std::vector<TensorType>> probe_types(const std::vector<TensorType>& open,
                                                 const std::vector<TensorType>& now);

struct OpenGraph {
  Graph
      graph;  // that of the call with None in the place of what varies, and more inputs at the end
  std::vector<Array> extras;  // the values of those inputs in this call
};
/// Empty if the graphs differ in more than that; `why` then says in what.
std::optional<OpenGraph> open_dims(const Graph& now, const Graph& probe, std::string* why);

/// The open graphs that a function's plans have compiled; when a plan ends, what no other plan holds is freed.
class OpenParts {
 public:
  /// The executable of an equal graph, or a new one. `is_new` says which.
  std::shared_ptr<Compiled> get(const Graph& graph,
                                const std::function<std::shared_ptr<Compiled>()>& compile,
                                bool* is_new);

 private:
  struct Entry {
    Graph graph;
    std::weak_ptr<Compiled> compiled;
  };
  ForkMutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace horngate
