// Attributes for people.
#pragma once

#include "ir/graph.h"

namespace horngate {

/// "axis=1, keepdims=true"
std::string attrs_text(const GraphNode& node);

}  // namespace horngate
