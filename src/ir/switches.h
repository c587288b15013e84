// Passes that can be switched off, one by one or all, to see which of them is to blame for a result.
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
/// test may change it, plans keep what they have.
bool is_on(Pass pass);
/// ValueError for a name that there is not; nothing is changed then.
void set_without(std::string_view names);

/// HORNGATE_PLAIN=1. Plans made while this holds have no fusion, no compiled loops, no SIMD in element-wise work, no
/// changed loops, no packed weights; matrix products and convolutions are sums written out, in float64; primitives
/// with a decomposition are decomposed.
bool is_plain();
void set_plain(bool plain);

/// HORNGATE_VERIFY=1, and in builds with assertions: compiled plans are checked, and compiled loops run beside an
/// interpreter.
bool is_verified();
void set_verified(bool verified);

/// ValueError if one of the variables means nothing.
void check_switches();

}  // namespace horngate
