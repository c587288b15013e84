// float16 and bfloat16 for kernels that compute in float32: operands and results are converted in
// scratch.
#pragma once

#include "engines/native/kernel.h"

namespace horngate::native {

/// The kernel that `make` gives for float32, with conversions of all half operands and results
/// around it. nullptr if the call has no half operand.
KernelPtr make_through_float(const KernelCall& call, KernelFactory make);

}  // namespace horngate::native
