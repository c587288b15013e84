// Products of float matrices on the calling thread, for vectors of any width. Each element is the sum of a few chains of
// multiply-adds, cut by k alone, so results do not depend on how a product is cut into tiles.
#pragma once

#include <cstdint>

namespace horngate::native {

/// C = A B, or C += A B with `add`. A is m x k with `a_row` and `a_column` floats between elements; B is k x n
/// row-major, or n x k if `b_turned`; C is m x n row-major.
struct Gemm {
  int64_t m, n, k;
  const float* a;
  int64_t a_row, a_column;
  const float* b;
  int64_t ldb;
  bool b_turned;
  float* c;
  int64_t ldc;
  bool add;
};
void run_gemm(const Gemm& g);

/// Floats per vector on this machine.
int64_t gemm_lanes();

}  // namespace horngate::native
