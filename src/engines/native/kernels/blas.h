// Matrix products by our own loops, OpenBLAS or oneDNN, whichever is fastest; always on the calling thread
// alone.
#pragma once

#include <cstdint>

#include "engines/native/kernel.h"

namespace horngate::native::blas {

/// Loads the libraries for products of up to this many multiplications; kernels call it when they are made.
void prepare(int64_t products);

/// The libraries count in 32 bits; RuntimeError beyond that, when the kernel is made.
void check_sizes(const char* primitive, std::initializer_list<int64_t> sizes);

/// C = op(A) op(B), or C += op(A) op(B) with `add`. Row-major; op transposes if its flag is set. op(A) is m x k,
/// op(B) is k x n; the leading dimensions are those of the stored matrices.
void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a,
          int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, bool add = false);
void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const double* a,
          int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc, bool add = false);

/// y = op(A) x for a row-major matrix A of rows x cols elements.
void gemv(bool transpose, int64_t rows, int64_t cols, const float* a, int64_t lda, const float* x,
          int64_t incx, float* y, int64_t incy);
void gemv(bool transpose, int64_t rows, int64_t cols, const double* a, int64_t lda, const double* x,
          int64_t incx, double* y, int64_t incy);

}  // namespace horngate::native::blas
