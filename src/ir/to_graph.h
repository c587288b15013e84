// From the user's nodes to a dense graph: what `function` does with its arguments.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ir/node.h"

namespace horngate {

/// The graph of a function. graph.inputs: fed tensors, then variables, then draws. graph.outputs: the function's
/// outputs, then the new values of the variables listed in `updated`.
struct FunctionGraph {
  Graph graph;
  size_t n_fed = 0;
  size_t n_outputs = 0;
  std::vector<VariableRef> variables;
  std::vector<DrawRef> draws;
  std::vector<uint32_t> updated;         // indices into `variables`
  std::vector<std::string> overwritten;  // variables with an update that a later one overwrites
};

/// Updates of one variable are chained in list order, each acting on the running value; every other read sees
/// the old value. For a fed variable, all of them see the fed value.
FunctionGraph to_function_graph(const Tensors& fed, const Tensors& outputs, const Tensors& updates);

}  // namespace horngate
