// Loops of src/api over make_scan.
#pragma once

#include "prims/scan.h"

namespace horngate {

/// make_scan, such that random numbers of a loop in a loop differ from step to step of both.
Tensors make_loop(const std::string& function, const ScanSpec& spec, const StepFunction& step);

}  // namespace horngate
