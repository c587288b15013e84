// What the library is measured against: the same work by calling the underlying libraries directly,
// or by a loop written for it. All write into memory that was there before.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace horngate::bench {

/// c = a b for n x n matrices, by OpenBLAS, whose number of threads is 1 again afterwards: our own
/// products run in the same process and bring their own threads.
void openblas_matmul(int64_t n, const float* a, const float* b, float* c, int threads);

/// The same by oneDNN.
void onednn_matmul(int64_t n, const float* a, const float* b, float* c, int threads);

/// y = sigmoid(1.1 x + 0.3) tanh(x) + exp(-x x), one pass over the data.
void fused_loop(int64_t n, const float* x, float* y, int threads);
/// Which version of the loop this CPU runs: "AVX-512", "AVX2" or "baseline".
const char* fused_loop_target();

struct ConvSizes {
  int64_t images, side, channels, filters, taps;
};

/// y = conv2d(x, w) with padding same, by oneDNN; x, y channels-last, w (rows, cols, in, out).
class OnednnConv {
 public:
  OnednnConv(const ConvSizes& sizes, const float* x, const float* w, float* y, int threads);
  ~OnednnConv();
  /// Puts the weights into the order that oneDNN wants.
  void pack();
  /// The convolution, with the weights of the last pack().
  void run();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace horngate::bench
