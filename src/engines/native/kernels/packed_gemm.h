// Products with a matrix that is brought into panels first, which pays when it is used again and again: the
// weights of a loop's step, the layers of a net that only predicts. Each element is one chain of multiply-adds over
// k, so results do not depend on how the work is shared out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace horngate::native {

/// Columns per panel on this machine.
int64_t panel_width();
/// Panels of a matrix with n columns, and floats of all of them; the last one is filled up with zeros.
int64_t panel_count(int64_t n);
int64_t packed_floats(int64_t n, int64_t k);
/// The panels [first, last) of b, which is k x n row-major, or n x k when `transposed`; `to`, where the first of all
/// begins, is 64-byte aligned.
void pack_panels(bool transposed, int64_t n, int64_t k, const float* b, int64_t ldb, float* to,
                 int64_t first, int64_t last);

/// C = A B for the panels [first, last): c is m x n row-major, a is m x k with `row` and `column` floats from
/// element to element. `panels` are all of them.
struct PackedProduct {
  int64_t m, n, k;
  const float* a;
  int64_t row, column;
  const float* panels;
  float* c;
};
void run_panels(const PackedProduct& p, int64_t first, int64_t last);

}  // namespace horngate::native
