// Typical chains of element-wise work, each as one loop written by hand. `in` and `out` are the
// arrays in the order of the comments; `rows` x `cols` elements each, unless said otherwise.
#pragma once

#include <cstdint>

namespace horngate::bench {

struct LoopCall {
  const float* const* in;
  float* const* out;
  int64_t rows, cols;
};

/// y = sigmoid(1.1 x + 0.3) tanh(x) + exp(-x x)
void gate_loop(const LoopCall& call);
/// y = x / 2 (1 + tanh(k (x + 0.044715 x^3))), k = sqrt(2 / pi)
void gelu_loop(const LoopCall& call);
/// Its gradient: x, dy -> dx
void gelu_grad_loop(const LoopCall& call);
/// p, m, v, g -> p, m, v with rate 1e-3, decay 0.9 and 0.999, epsilon 1e-7
void adam_loop(const LoopCall& call);
/// i, f, o, g, c -> c', h: c' = sigmoid(f) c + sigmoid(i) tanh(g), h = sigmoid(o) tanh(c')
void lstm_loop(const LoopCall& call);
/// x, mean and rstd (one per row), gamma and beta (one per column) -> (x - mean) rstd gamma + beta
void normalise_loop(const LoopCall& call);
/// x, dy -> dy s (1 + x (1 - s)), s = sigmoid(x)
void swish_grad_loop(const LoopCall& call);

}  // namespace horngate::bench
