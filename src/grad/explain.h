// Why a gradient is None, or zero: which node cut the path, and what to do about it.
#pragma once

#include <string>

#include "horngate/tensor.h"

namespace horngate {

struct GradientReport {
  enum Kind { flows, zero, none } kind;
  std::string text;  // the reason as the end of a sentence, and what to do about it
};

/// What `gradients(loss, {target})` gives, and why. `none` exactly where it gives an empty tensor.
GradientReport explain_gradient_of(const Tensor& loss, const Tensor& target);

}  // namespace horngate
