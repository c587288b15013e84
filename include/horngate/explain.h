// Why a gradient is None, or zero.
#pragma once

#include <string>

#include "horngate/tensor.h"

namespace horngate {

/// Why the gradient of a loss with respect to x is None, or zero: the node that cut the path, and a remedy. Where it is
/// neither, what it flows through. gradients(loss, {x}, {.strict = true}) throws the same text.
/// Example: std::cout << K::explain_gradient(loss, w) << "\n";
[[nodiscard]] HORNGATE_API std::string explain_gradient(const Tensor& loss, const Tensor& x);

}  // namespace horngate
