// Which order the axes of images have inside of a plan.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace horngate::native {

/// The same graph with convolutions and pools on channels-last data throughout, where that takes
/// far fewer copies than bringing each kernel's channels_first operands and results into that order.
/// Inputs and outputs stay as they are.
std::optional<Graph> channels_last(const Graph& graph);

}  // namespace horngate::native
