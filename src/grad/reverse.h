// The reverse walk: vector-Jacobian products of a graph, as a graph.
#pragma once

#include "horngate/tensor.h"

namespace horngate {

/// d(sum of roots * seeds) / d targets; empty where nothing connects. With `cut`, targets count as
/// independent of each other (partial derivatives); otherwise derivatives flow through them.
Tensors reverse(const Tensors& roots, const Tensors& seeds, const Tensors& targets, bool cut);

/// What the walk did at a node: the cotangents of its results, and what its rule made of them for the operands.
struct WalkStep {
  const Node* node;
  Tensors dy, dx;
};

/// The same, noting each step. It goes on to nodes that depend on a target without a derivative, to see where paths
/// end; what it gives is not changed by that.
Tensors reverse_noting(const Tensors& roots, const Tensors& seeds, const Tensors& targets, bool cut,
                       std::vector<WalkStep>& steps);

}  // namespace horngate
