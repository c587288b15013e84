// Building conditionals; cond.cpp says what one is.
#pragma once

#include <functional>

#include "prims/build.h"

namespace horngate {

/// Both branches are traced, one runs. They must give the same number of values, of equal dtypes and
/// ranks.
Tensors make_cond(const std::string& function, const Tensor& condition,
                  const std::function<Tensors()>& then_branch,
                  const std::function<Tensors()>& else_branch);

}  // namespace horngate
