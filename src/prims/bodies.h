// Bodies of scan and cond: tracing, closing over captures, copying.
#pragma once

#include <functional>

#include "prims/build.h"

namespace horngate {

/// A new parameter for a body at trace level `level`.
Tensor make_parameter(const TensorType& type, uint32_t level);

/// Whether a node is part of the body being closed (as opposed to a value of the surroundings).
using IsInside = std::function<bool(const Node&)>;

/// The surroundings' values that the results reach without passing a parameter, in order of discovery.
/// Leaves (placeholders, variables, draws and constants of more than a few elements) are always captured.
Tensors find_captures(const Tensors& results, const Tensors& params, const IsInside& inside);

/// The results rebuilt with other tensors in place of `from`.
Tensors substitute(const Tensors& results, const Tensors& from, const Tensors& to,
                   const IsInside& inside);

/// Runs f with the trace level raised by one and gives the level.
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
