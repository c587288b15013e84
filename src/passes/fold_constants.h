// Constant folding: a node whose operands are all small constants is computed once, by native.
#pragma once

#include "passes/rewriter.h"

namespace horngate {

/// The constant that the node is, emitted into the rewriter; kNoValue when it is none or not worth it.
ValueId fold_constants(Rewriter& rewriter, const GraphNode& node);

}  // namespace horngate
