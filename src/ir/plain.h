// HORNGATE_PLAIN=1: everything by the simplest way there is, to see whether a fast one is to blame for a result.
#pragma once

namespace horngate {

/// Plans made while this holds have no fusion, no compiled loops, no SIMD in element-wise work, no changed loops,
/// no packed weights; matrix products and convolutions are sums written out, in float64; primitives with a
/// decomposition are decomposed. The variable is read once; a test may change it, plans keep what they have.
bool is_plain();
void set_plain(bool plain);

}  // namespace horngate
