// Passes that can be switched off, singly or all together, to find out which one is to blame for a result.
#pragma once

#include <cstdint>
#include <string_view>

namespace horngate {

enum class Pass : uint8_t {
#define HORNGATE_PASS(name, what) name,
#include "ir/switches.def"
#undef HORNGATE_PASS
};

/// False for those that HORNGATE_WITHOUT lists ("views,jit"), and for all if is_plain(). The variable is read once; a
/// test may change the setting, but existing plans keep theirs.
bool is_on(Pass pass);
/// ValueError for an unknown name; then nothing changes.
void set_without(std::string_view names);

/// HORNGATE_PLAIN=1, read once. Plans then have no fusion, no compiled loops, no SIMD in element-wise work, no
/// rewritten loops and no packed weights; matrix products and convolutions are plain sums in float64; primitives with
/// a decomposition are decomposed.
bool is_plain();

/// HORNGATE_VERIFY=1, or a build with assertions: compiled plans are checked, and compiled loops run beside an
/// interpreter.
bool is_verified();
void set_verified(bool verified);

/// ValueError if an environment variable of a switch has an invalid value.
void check_switches();

}  // namespace horngate
