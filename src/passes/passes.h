// The passes, in the order in which a program goes through them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>

#include "ir/graph.h"

namespace horngate {

/// Computes the one output of a small static graph into `out`; false if it cannot.
using Evaluate = bool (*)(const Graph& graph, std::span<const Array> in, Array& out);

/// Once per function and learning phase, on symbolic shapes: selects the branches of the phase, merges equal nodes,
/// drops identities and dead code. `evaluate` folds constants.
Graph prepare(const Graph& graph, bool training, Evaluate evaluate);
/// Whether the two phases may differ.
bool uses_phase(const Graph& graph);

/// Known integers of inputs, by position.
using InputInts = std::unordered_map<size_t, Ints>;

/// Once per shape: all dimensions become numbers. When shapes depend on data, `result` is empty and `needed` lists
/// the values of `graph` that must be computed first. `apart`: numbers that come from shapes are not merged with
/// equal constants, so that graphs for other shapes look alike.
struct Specialised {
  std::optional<Graph> result;
  std::vector<ValueId> needed;
};
Specialised specialise(const Graph& graph, const std::vector<TensorType>& inputs,
                       const InputInts& ints, bool apart = false);

/// On a static graph: moves work out of loops that need not be done step by step.
Graph improve_loops(Graph graph);
/// In a loop's body: merges products with unchanging matrices that share an operand or are added up. `order`, a
/// number per input: the best order in which to join the matrices.
Graph merge_products(Graph body, const attrs::scan& loop, const std::vector<int64_t>& order);

/// On a static graph: a loop recomputes what would cost more to keep for it in an earlier loop.
Graph shorten_tapes(Graph graph);

/// On a static graph: slices of element-wise results become element-wise results of slices.
Graph push_slices(Graph graph);

/// The graph with those prints replaced by their operands, in bodies too.
using DropPrint = std::function<bool(const GraphNode&)>;
Graph without_prints(const Graph& from, const DropPrint& drop);

/// The gradient of a branch repeats the branch with its prints: only the first copy of each print stays.
Graph print_once(Graph graph);

/// Removes what no output needs; inputs stay.
Graph remove_dead(Graph graph);

/// The part of `graph` that makes `wanted`, with these as outputs; all inputs stay.
Graph extract(Graph graph, const std::vector<ValueId>& wanted);

/// Cuts a graph in two: `first` makes the `needed` values and whatever else `second` takes from the same nodes;
/// `second` has the inputs of the graph, then those values.
struct Split {
  Graph first;   // outputs: `needed`, then the values that cross
  Graph second;  // inputs: those of the graph, then `needed`, then the values that cross
};
Split split(const Graph& graph, const std::vector<ValueId>& needed);

/// Ends a pass: verifies the graph in debug builds, and logs it if HORNGATE_LOG names the stage ("all", or a list
/// such as "prepare,plan").
void log_stage(const char* stage, const Graph& graph);
bool log_enabled(const char* stage);
void log_text(const char* stage, const std::string& text);

}  // namespace horngate
