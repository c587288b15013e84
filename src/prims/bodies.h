// Bodies of scan and cond: tracing, closing over captures, copying.
#pragma once

#include <functional>

#include "prims/build.h"

namespace horngate {

/// A new parameter for a body at trace level `level`.
Tensor make_parameter(const TensorType& type, uint32_t level);

/// Whether a node is part of the body being closed, and not of its surroundings.
using IsInside = std::function<bool(const Node&)>;

/// The surrounding values that the results reach without passing through a parameter, in order of
/// discovery. Leaves (placeholders, variables, draws and constants of more than a few elements) are
/// always captured.
Tensors find_captures(const Tensors& results, const Tensors& params, const IsInside& inside);

/// Whether a node was made from id `begin` on. A tape counts as made with its loop, in whose graph it stays.
bool is_made_since(uint64_t begin, const Node& n);

/// An error if results reach an update among the nodes from id `begin` on, even one that needs nothing of the body: it
/// would run once instead of in each step, or whichever branch is taken. `where`: "the step function".
void refuse_updates(std::string_view function, std::string_view where, const Tensors& results,
                    uint64_t begin);

/// Raises the trace level by one while it lives.
class TraceScope {
 public:
  TraceScope();
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  uint32_t level() const { return level_; }

 private:
  uint32_t level_;
};

/// Step index of the innermost scan that is being traced on this thread; empty outside.
Tensor current_step();
void set_current_step(Tensor step);

}  // namespace horngate
