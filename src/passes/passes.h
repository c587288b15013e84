// The passes, in the order in which a program goes through them.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>

#include "ir/graph.h"

namespace horngate {

/// Computes the one output of a small static graph into `out`; false when it cannot.
using Evaluate = bool (*)(const Graph& graph, std::span<const Array> in, Array& out);

/// Once per function and learning phase, on symbolic shapes: the phase chooses its branch; equal nodes merge;
/// identities and dead code go. `evaluate` folds constants.
Graph prepare(const Graph& graph, bool training, Evaluate evaluate);
/// Whether the two phases can differ.
bool uses_phase(const Graph& graph);

/// Known integers of inputs, by position.
using InputInts = std::unordered_map<size_t, Ints>;

/// Once per shape: all dimensions become numbers. When shapes depend on data, `needed` lists the values of
/// `graph` that must be computed first, and `result` is empty. `apart`: numbers that come from shapes stay apart from
/// equal constants, so that graphs for other shapes look alike.
struct Specialised {
  std::optional<Graph> result;
  std::vector<ValueId> needed;
};
Specialised specialise(const Graph& graph, const std::vector<TensorType>& inputs,
                       const InputInts& ints, bool apart = false);

/// On a static graph: moves out of loops what need not be done step by step.
Graph improve_loops(Graph graph);
/// In a loop's body: products that share an operand, or are added up, with matrices that do not change become one.
/// `order`, a number per input: in which order the matrices are best put together.
Graph merge_products(Graph body, const attrs::scan& loop, const std::vector<int64_t>& order);

/// On a static graph: loops compute again what costs less than keeping it from one loop for the next.
Graph shorten_tapes(Graph graph);

/// On a static graph: slices of element-wise results become element-wise results of slices.
Graph push_slices(Graph graph);

/// Removes what no output needs; inputs stay.
Graph remove_dead(Graph graph);

/// The part of `graph` that makes `wanted`, with those as outputs; inputs stay as they are.
Graph extract(Graph graph, const std::vector<ValueId>& wanted);

/// Cuts a graph in two: `first` makes the `needed` values and whatever the rest takes from the same nodes;
/// `second` has the inputs of the graph, then those values.
struct Split {
  Graph first;   // outputs: `needed`, then the values that cross
  Graph second;  // inputs: those of the graph, then `needed`, then the values that cross
};
Split split(const Graph& graph, const std::vector<ValueId>& needed);

/// Ends a pass: verifies the graph in debug builds, and writes it to the log when HORNGATE_LOG names the stage
/// ("all", or a list such as "prepare,plan").
void log_stage(const char* stage, const Graph& graph);
bool log_enabled(const char* stage);
void log_text(const char* stage, const std::string& text);

}  // namespace horngate
