// Conversion between the caller's dtypes and the floats that carry them inside CNTK.
#pragma once

#include <stdexcept>

#include "cntk/lower.h"

namespace horngate::cntk {

/// Integers and bools as floats. Throws std::range_error for integers beyond 2^53.
void widen(const void* from, int32_t dtype, void* to, DataType carrier, int64_t n);
/// The way back; narrow integers keep their low bits, as in the host's arithmetic.
void narrow(const void* from, DataType carrier, void* to, int32_t dtype, int64_t n);

/// An index outside an axis.
struct IndexError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void throw_index(const IndexCheck& check, int64_t index);
void check_indices(const hg_buffer& indices, const IndexCheck& check);

/// How many threads products use from now on. The library's own loops have one: it would fork for each row of a
/// broadcast, which takes a hundred times as long as the work. The number for convolutions must not change: MKL
/// keeps the first one and divides by zero at another.
void use_threads(const Library& l, int threads);

}  // namespace horngate::cntk
