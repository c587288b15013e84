// Building conditionals: see cond.cpp.
#pragma once

#include <functional>

#include "prims/build.h"

namespace horngate {

/// Both branches are traced; one runs. They must give equally many values of the same dtype and rank.
Tensors make_cond(const std::string& function, const Tensor& condition,
                  const std::function<Tensors()>& then_branch,
                  const std::function<Tensors()>& else_branch);

}  // namespace horngate
