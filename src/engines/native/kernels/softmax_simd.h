// The SIMD loops of softmax and log_softmax.
#pragma once

#include <cstdint>

namespace horngate::native::kernels {

/// Consecutive rows of n elements; y may be x.
void softmax_rows(const float* x, int64_t rows, int64_t n, bool log, float* y);
void softmax_rows(const double* x, int64_t rows, int64_t n, bool log, double* y);

/// `width` columns of n elements, which are `stride` apart; y may be x.
void softmax_columns(const float* x, int64_t n, int64_t stride, int64_t width, bool log, float* y);
void softmax_columns(const double* x, int64_t n, int64_t stride, int64_t width, bool log,
                     double* y);

}  // namespace horngate::native::kernels
