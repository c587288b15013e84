// Constant folding: a node whose operands are all small constants is computed once.
#pragma once

#include "passes/passes.h"
#include "passes/rewriter.h"

namespace horngate {

/// The node as a constant, emitted into the rewriter; kNoValue if it is not constant or not worth it.
ValueId fold_constants(Rewriter& rewriter, const GraphNode& node, Evaluate evaluate);

}  // namespace horngate
