// Index operands: their two dtypes, and the check that every run makes before it follows them.
#pragma once

#include "horngate/dtype.h"
#include "ir/check.h"

namespace horngate::native::kernels {

/// Calls f with a value of the index type, int32 or int64.
template <class F>
decltype(auto) with_index(DType t, F&& f) {
  return t == DType::int32 ? f(int32_t{}) : f(int64_t{});
}

/// IndexError for the first index outside [0, n).
template <class I>
void check_indices(const char* name, const I* indices, int64_t count, int64_t axis, int64_t n) {
  bool ok = true;
  // Compared as unsigned, negative ones are too large; no branch, so that the loop stays cheap.
  for (int64_t i = 0; i < count; ++i)
    ok &= static_cast<uint64_t>(static_cast<int64_t>(indices[i])) < static_cast<uint64_t>(n);
  if (ok) return;
  for (int64_t i = 0; i < count; ++i)
    check<IndexError>(indices[i] >= 0 && indices[i] < n, name, "index ", indices[i],
                      " is out of range for axis ", axis, " of size ", n, ".");
}

}  // namespace horngate::native::kernels
