// The order in which micro code is emitted.
#pragma once

#include <vector>

#include "engines/native/jit/micro.h"

namespace horngate::native::jit {

/// The same operations with new numbers; stores stay last. Holds at most about `most_live` values at
/// once, if the code allows that.
std::vector<Micro> schedule(const std::vector<Micro>& code, int most_live);

}  // namespace horngate::native::jit
