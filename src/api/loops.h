// Loops of src/api over make_scan.
#pragma once

#include "prims/scan.h"

namespace horngate {

/// Like make_scan, but random numbers in a nested loop differ between the steps of both loops.
Tensors make_loop(const std::string& function, const ScanSpec& spec, const StepFunction& step);

}  // namespace horngate
