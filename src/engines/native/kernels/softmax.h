// softmax and log_softmax share all but the last step.
#pragma once

#include "engines/native/kernel.h"

namespace horngate::native::kernels {

KernelPtr make_softmax_along(const KernelCall& call, int64_t axis, bool log);

}  // namespace horngate::native::kernels
