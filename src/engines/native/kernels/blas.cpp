// Matrix products by our own loops, OpenBLAS or oneDNN.
#include "engines/native/kernels/blas.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "engines/native/kernels/gemm.h"
#include "engines/native/kernels/onednn.h"
#include "engines/native/late_library.h"
#include "engines/native/threads.h"
#include "ir/fork.h"

namespace horngate::native::blas {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;
constexpr int code(bool transpose) { return transpose ? kTranspose : kNoTranspose; }

/// While it lives, the calling thread may use only one CPU.
class OneCpu {
 public:
  OneCpu() {
    cpu_set_t one;
    CPU_ZERO(&one);
    const int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE) return;
    CPU_SET(here, &one);
    bound_ = sched_getaffinity(0, sizeof before_, &before_) == 0 &&
             sched_setaffinity(0, sizeof one, &one) == 0;
  }
  ~OneCpu() {
    if (bound_) sched_setaffinity(0, sizeof before_, &before_);
  }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;

 private:
  cpu_set_t before_;
  bool bound_ = false;
};

/// The OpenBLAS functions we use, null without it. In some builds their names have a prefix (scipy_ on PyPI).
struct OpenBlas {
  template <class T>
  using Gemm = void(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
  template <class T>
  using Gemv = void(int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
  Gemm<float>* sgemm;
  Gemm<double>* dgemm;
  Gemv<float>* sgemv;
  Gemv<double>* dgemv;
  bool is_there() const { return sgemm != nullptr; }
};

OpenBlas load_openblas() {
  // It starts a thread for each CPU it sees, and these busy-wait for work. Show it one CPU, so that it starts none.
  const OneCpu one_cpu;
  const LateLibrary library("OpenBLAS", HORNGATE_OPENBLAS_FILE);
  if (!library.is_there()) return {};
  library.function<void(int)>(HORNGATE_OPENBLAS_PREFIX "openblas_set_num_threads")(1);
  return {library.function<OpenBlas::Gemm<float>>(HORNGATE_OPENBLAS_PREFIX "cblas_sgemm"),
          library.function<OpenBlas::Gemm<double>>(HORNGATE_OPENBLAS_PREFIX "cblas_dgemm"),
          library.function<OpenBlas::Gemv<float>>(HORNGATE_OPENBLAS_PREFIX "cblas_sgemv"),
          library.function<OpenBlas::Gemv<double>>(HORNGATE_OPENBLAS_PREFIX "cblas_dgemv")};
}

/// Needs a ForkHold, for the calls too: OpenBLAS locks its buffers.
const OpenBlas& openblas() {
  static const OpenBlas kFound = load_openblas();
  return kFound;
}

/// OpenBLAS keeps a buffer for each thread that computes a product, and ends the process if it gets no memory for it.
/// So try to get that much before a thread's first product.
void expect_buffer() {
  constexpr size_t kBuffer = size_t{40} << 20;
  thread_local bool is_there = false;
  if (is_there) [[likely]]
    return;
  void* p = mmap(nullptr, kBuffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check<RuntimeError>(p != MAP_FAILED, "dot_general", "out of memory: OpenBLAS needs ", kBuffer,
                      " bytes for each thread.");
  munmap(p, kBuffer);
  is_there = true;
}

enum class By { ours, openblas, onednn };

constexpr int64_t kWide = 16;                                                 // floats per vector
constexpr int64_t kWorthwhile = int64_t{1} << 20, kLarge = int64_t{1} << 24;  // multiplications

// Measured on Zen 4 with AVX-512, one thread, m = 8..1024, n = 8..512, k = 64..1024: in the region below, our loops and
// oneDNN take 0.3-1.0 of OpenBLAS' time (up to 1.14 in a few cases), outside it up to 4 times as long. Of the two,
// oneDNN is 2 to 8 % faster for large matrices, but its code generator needs 30 ms before the first product; for small
// ones they differ by less than 2 %. On Zen 3, without AVX-512, OpenBLAS was fastest from 512 on and for dense layers.
By fastest(bool transpose_b, int64_t m, int64_t n, int64_t k) {
  const int64_t products = m * n * k;
  if (gemm_lanes() < kWide || n < (transpose_b ? 128 : 32) || products < kWorthwhile)
    return openblas().is_there() ? By::openblas : By::ours;
  return products > kLarge && onednn::library().is_there() ? By::onednn : By::ours;
}

/// Used instead of OpenBLAS where that was left out and run_gemm does not have the product.
template <class T>
void plain_gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a,
                int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc, bool add) {
  const int64_t b_row = transpose_b ? 1 : ldb, b_column = transpose_b ? ldb : 1;
  for (int64_t i = 0; i < m; ++i) {
    T* row = c + i * ldc;
    if (!add) std::fill_n(row, n, T{0});
    for (int64_t l = 0; l < k; ++l) {
      const T x = transpose_a ? a[l * lda + i] : a[i * lda + l];
      for (int64_t j = 0; j < n; ++j) row[j] += x * b[l * b_row + j * b_column];
    }
  }
}

template <class T>
void plain_gemv(bool transpose, int64_t rows, int64_t cols, const T* a, int64_t lda, const T* x,
                int64_t incx, T* y, int64_t incy) {
  if (transpose) std::swap(rows, cols);
  if constexpr (std::is_same_v<T, float>)
    if (incy == 1)
      return run_gemm({.m = 1,
                       .n = rows,
                       .k = cols,
                       .a = x,
                       .a_row = 0,
                       .a_column = incx,
                       .b = a,
                       .ldb = lda,
                       .b_turned = !transpose,
                       .c = y,
                       .ldc = rows,
                       .add = false});
  for (int64_t i = 0; i < rows; ++i) {
    T sum = 0;
    for (int64_t j = 0; j < cols; ++j)
      sum += (transpose ? a[j * lda + i] : a[i * lda + j]) * x[j * incx];
    y[i * incy] = sum;
  }
}

/// oneDNN's generated product moves the stack pointer into a buffer of its own: a signal handler running on that stack
/// would overwrite the heap. So signals wait until it is done; the pool's workers never get any.
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

void prepare(int64_t products) {
  const ForkHold hold;
  (void)openblas();
  if (gemm_lanes() >= kWide && products > kLarge) (void)onednn::library();
}

void check_sizes(const char* primitive, std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes)
    check<RuntimeError>(size <= INT32_MAX, primitive,
                        "matrices must have fewer than 2147483648 rows, ",
                        "columns and elements per row; got ", size, ".");
}

void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a,
          int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, bool add) {
  const float beta = add ? 1.0f : 0.0f;
  const ForkHold hold;
  switch (fastest(transpose_b, m, n, k)) {
    case By::ours:
      return run_gemm({.m = m,
                       .n = n,
                       .k = k,
                       .a = a,
                       .a_row = transpose_a ? 1 : lda,
                       .a_column = transpose_a ? lda : 1,
                       .b = b,
                       .ldb = ldb,
                       .b_turned = transpose_b,
                       .c = c,
                       .ldc = ldc,
                       .add = add});
    case By::onednn: {
      const onednn::OneThread one_thread;
      const SignalsBlocked blocked;
      if (dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, a, lda, b,
                     ldb, beta, c, ldc) == dnnl_success)
        return;
      break;
    }
    case By::openblas: break;
  }
  if (!openblas().is_there())
    return plain_gemm(transpose_a, transpose_b, m, n, k, a, lda, b, ldb, c, ldc, add);
  expect_buffer();
  openblas().sgemm(kRowMajor, code(transpose_a), code(transpose_b), static_cast<int>(m),
                   static_cast<int>(n), static_cast<int>(k), 1.0f, a, static_cast<int>(lda), b,
                   static_cast<int>(ldb), beta, c, static_cast<int>(ldc));
}

void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const double* a,
          int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc, bool add) {
  const ForkHold hold;
  if (!openblas().is_there())
    return plain_gemm(transpose_a, transpose_b, m, n, k, a, lda, b, ldb, c, ldc, add);
  expect_buffer();
  openblas().dgemm(kRowMajor, code(transpose_a), code(transpose_b), static_cast<int>(m),
                   static_cast<int>(n), static_cast<int>(k), 1.0, a, static_cast<int>(lda), b,
                   static_cast<int>(ldb), add ? 1.0 : 0.0, c, static_cast<int>(ldc));
}

void gemv(bool transpose, int64_t rows, int64_t cols, const float* a, int64_t lda, const float* x,
          int64_t incx, float* y, int64_t incy) {
  const ForkHold hold;
  if (!openblas().is_there()) return plain_gemv(transpose, rows, cols, a, lda, x, incx, y, incy);
  expect_buffer();
  openblas().sgemv(kRowMajor, code(transpose), static_cast<int>(rows), static_cast<int>(cols), 1.0f,
                   a, static_cast<int>(lda), x, static_cast<int>(incx), 0.0f, y,
                   static_cast<int>(incy));
}

void gemv(bool transpose, int64_t rows, int64_t cols, const double* a, int64_t lda, const double* x,
          int64_t incx, double* y, int64_t incy) {
  const ForkHold hold;
  if (!openblas().is_there()) return plain_gemv(transpose, rows, cols, a, lda, x, incx, y, incy);
  expect_buffer();
  openblas().dgemv(kRowMajor, code(transpose), static_cast<int>(rows), static_cast<int>(cols), 1.0,
                   a, static_cast<int>(lda), x, static_cast<int>(incx), 0.0, y,
                   static_cast<int>(incy));
}

}  // namespace horngate::native::blas
