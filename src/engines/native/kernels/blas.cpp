// Matrix products by OpenBLAS or oneDNN.
#include "engines/native/kernels/blas.h"

#include <pthread.h>
#include <signal.h>

#include <mutex>

#include "engines/native/kernels/onednn.h"
#include "engines/native/threads.h"

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
void HORNGATE_BLAS(cblas_dgemm)(int, int, int, int, int, int, double, const double*, int,
                                const double*, int, double, double*, int);
void HORNGATE_BLAS(cblas_sgemv)(int, int, int, int, float, const float*, int, const float*, int,
                                float, float*, int);
void HORNGATE_BLAS(cblas_dgemv)(int, int, int, int, double, const double*, int, const double*, int,
                                double, double*, int);
}

namespace horngate::native::blas {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;
constexpr int code(bool transpose) { return transpose ? kTranspose : kNoTranspose; }

// Measured on Zen 4 with AVX-512, one thread, m = 8..1024, n = 8..512, k = 64..1024: in the region
// below oneDNN takes 0.3-1.0 of OpenBLAS' time (one case 1.14), outside of it up to 4 times as long.
// On Zen 3, without AVX-512, OpenBLAS was the faster one from 512 on and for dense layers.
bool onednn_is_faster(bool transpose_b, int64_t m, int64_t n, int64_t k) {
  static const bool kAvx512 =
      (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
  return kAvx512 && n >= (transpose_b ? 128 : 32) && m * n * k >= int64_t{1} << 20;
}

/// oneDNN's generated product moves the stack pointer into a buffer of its own: a signal handler that ran on that
/// stack would overwrite the heap. Signals wait until it is done; the pool's workers never take any.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    if (thread_index() != 0) return;
    sigset_t all;
    sigfillset(&all);
    blocked_ = pthread_sigmask(SIG_SETMASK, &all, &before_) == 0;
  }
  ~SignalsBlocked() {
    if (blocked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
  bool blocked_ = false;
};

}  // namespace

void prepare() {
  static std::once_flag once;
  std::call_once(once, [] { HORNGATE_BLAS(openblas_set_num_threads)(1); });
}

void check_sizes(const char* primitive, std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes)
    check<RuntimeError>(size <= INT32_MAX, primitive,
                        "matrices must have less than 2147483648 rows, ",
                        "columns and elements per row; got ", size, ".");
}

void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a,
          int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, bool add) {
  const float beta = add ? 1.0f : 0.0f;
  if (onednn_is_faster(transpose_b, m, n, k)) {
    const onednn::OneThread one_thread;
    const SignalsBlocked blocked;
    if (dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, a, lda, b, ldb,
                   beta, c, ldc) == dnnl_success)
      return;
  }
  HORNGATE_BLAS(cblas_sgemm)
  (kRowMajor, code(transpose_a), code(transpose_b), static_cast<int>(m), static_cast<int>(n),
   static_cast<int>(k), 1.0f, a, static_cast<int>(lda), b, static_cast<int>(ldb), beta, c,
   static_cast<int>(ldc));
}

void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const double* a,
          int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc, bool add) {
  HORNGATE_BLAS(cblas_dgemm)
  (kRowMajor, code(transpose_a), code(transpose_b), static_cast<int>(m), static_cast<int>(n),
   static_cast<int>(k), 1.0, a, static_cast<int>(lda), b, static_cast<int>(ldb), add ? 1.0 : 0.0, c,
   static_cast<int>(ldc));
}

void gemv(bool transpose, int64_t rows, int64_t cols, const float* a, int64_t lda, const float* x,
          int64_t incx, float* y, int64_t incy) {
  HORNGATE_BLAS(cblas_sgemv)
  (kRowMajor, code(transpose), static_cast<int>(rows), static_cast<int>(cols), 1.0f, a,
   static_cast<int>(lda), x, static_cast<int>(incx), 0.0f, y, static_cast<int>(incy));
}

void gemv(bool transpose, int64_t rows, int64_t cols, const double* a, int64_t lda, const double* x,
          int64_t incx, double* y, int64_t incy) {
  HORNGATE_BLAS(cblas_dgemv)
  (kRowMajor, code(transpose), static_cast<int>(rows), static_cast<int>(cols), 1.0, a,
   static_cast<int>(lda), x, static_cast<int>(incx), 0.0, y, static_cast<int>(incy));
}

}  // namespace horngate::native::blas
