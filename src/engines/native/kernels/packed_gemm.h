// Products with a matrix that is first rearranged into panels, which pays if it is used repeatedly: the weights in a
// loop's step, the layers of a net that only predicts. Each element is a single chain of multiply-adds over k, so
// results do not depend on how the work is divided.
#pragma once

#include <cstddef>
#include <cstdint>

namespace horngate::native {

/// Columns per panel on this machine.
int64_t panel_width();
/// The number of panels of a matrix with n columns, and the floats of all of them; the last is filled up with zeros.
int64_t panel_count(int64_t n);
int64_t packed_floats(int64_t n, int64_t k);
/// The panels [first, last) of b, which is k x n row-major, or n x k if `transposed`; `to`, where the very first
/// panel starts, is 64-byte aligned.
void pack_panels(bool transposed, int64_t n, int64_t k, const float* b, int64_t ldb, float* to,
                 int64_t first, int64_t last);

/// C = A B for the panels [first, last): c is m x n row-major, a is m x k with `row` and `column` floats between
/// elements. `panels` are all of them.
struct PackedProduct {
  int64_t m, n, k;
  const float* a;
  int64_t row, column;
  const float* panels;
  float* c;
};
void run_panels(const PackedProduct& p, int64_t first, int64_t last);

}  // namespace horngate::native
