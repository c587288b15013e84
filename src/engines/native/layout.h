// The order of image axes inside a plan.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace horngate::native {

/// The same graph with convolutions and pools on channels-last data throughout, if that takes far
/// fewer copies than converting the channels_first operands and results of each kernel. Inputs and
/// outputs stay as they are.
std::optional<Graph> channels_last(const Graph& graph);

}  // namespace horngate::native
