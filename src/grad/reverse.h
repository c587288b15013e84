// The reverse walk: vector-Jacobian products of a graph, as a graph.
#pragma once

#include "horngate/tensor.h"

namespace horngate {

/// d(sum of roots * seeds) / d targets; empty where nothing connects. With `cut`, targets count as
/// independent of each other (partial derivatives); otherwise derivatives flow through them.
Tensors reverse(const Tensors& roots, const Tensors& seeds, const Tensors& targets, bool cut);

}  // namespace horngate
