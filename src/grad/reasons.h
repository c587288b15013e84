// The words in which explanations of gradients speak of primitives.
#pragma once

#include "ir/node.h"

namespace horngate {

/// Why nothing flows back through a node, and what to do about it; both whole clauses without a full stop.
struct Reason {
  const char* why;
  const char* remedy;
};
Reason reason_for_none(const Node& node);
Reason reason_for_zero(const Node& node);

/// Whether the values decide if a derivative through this primitive is zero (relu, clip, switch).
bool may_pass_nothing(Prim prim);

}  // namespace horngate
