// Constant folding: a node whose operands are all small constants is computed once.
#pragma once

#include "passes/passes.h"
#include "passes/rewriter.h"

namespace horngate {

/// The constant that the node is, emitted into the rewriter; kNoValue when it is none or not worth it.
ValueId fold_constants(Rewriter& rewriter, const GraphNode& node, Evaluate evaluate);

}  // namespace horngate
