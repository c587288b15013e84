// Building scans; scan.cpp says what one is.
#pragma once

#include <functional>

#include "prims/build.h"

namespace horngate {

struct ScanSpec {
  Tensors xs;       // sequences, read one slice per step
  Ints x_axes;      // the time axis of each
  Ints x_reversed;  // 1: from the last slice to the first
  Tensors inits;    // carries before the first step
  Ints y_axes;      // where the time axis of each stacked result goes
  Ints y_reversed;
  int64_t length = -1;  // needed if there are no xs
};

struct StepResult {
  Tensors carries;
  Tensors ys;
};
using StepFunction =
    std::function<StepResult(const Tensors& x, const Tensors& carries, const Tensor& step)>;

/// Traces the step, once more where it widens a carry. Returns the final carries, then the stacked ys.
Tensors make_scan(const std::string& function, const ScanSpec& spec, const StepFunction& step);

/// A scan over a body already traced at `level`: its results are carries, then ys.
Tensors close_scan(const ScanSpec& spec, Tensors params, Tensors results,
                   const std::function<bool(const Node&)>& inside);

}  // namespace horngate
