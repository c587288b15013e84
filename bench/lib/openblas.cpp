// OpenBLAS called directly.
#include "lib/direct.h"

// Builds of OpenBLAS differ in a prefix of their names (PyPI's says scipy_).
#ifndef HORNGATE_BLAS_PREFIX
#define HORNGATE_BLAS_PREFIX
#endif
#define HORNGATE_BLAS_PASTE_(prefix, name) prefix##name
#define HORNGATE_BLAS_PASTE(prefix, name) HORNGATE_BLAS_PASTE_(prefix, name)
#define HORNGATE_BLAS(name) HORNGATE_BLAS_PASTE(HORNGATE_BLAS_PREFIX, name)

extern "C" {
void HORNGATE_BLAS(openblas_set_num_threads)(int);
void HORNGATE_BLAS(cblas_sgemm)(int, int, int, int, int, int, float, const float*, int,
                                const float*, int, float, float*, int);
}

namespace horngate::bench {

void openblas_matmul(int64_t n, const float* a, const float* b, float* c, int threads) {
  constexpr int kRowMajor = 101, kNoTranspose = 111;
  const int size = static_cast<int>(n);
  if (threads > 1) HORNGATE_BLAS(openblas_set_num_threads)(threads);
  HORNGATE_BLAS(cblas_sgemm)
  (kRowMajor, kNoTranspose, kNoTranspose, size, size, size, 1.0f, a, size, b, size, 0.0f, c, size);
  HORNGATE_BLAS(openblas_set_num_threads)(1);
}

}  // namespace horngate::bench
