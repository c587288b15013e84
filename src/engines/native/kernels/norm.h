// What batch_norm and batch_norm_grad share: the axes as (k0, r0, k1, r1), alternately kept and
// reduced, and the fixed blocks in which sums are made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "engines/native/kernel.h"
#include "engines/native/threads.h"

namespace horngate::native {

/// Elements of one block: `rows` rows of `width` elements, `stride` apart.
/// By columns: each column is a channel. Otherwise all elements belong to one channel.
struct NormBlock {
  int64_t offset = 0;   // of the first element in x
  int64_t channel = 0;  // the first
  int64_t partial = 0;  // where the first channel's partial result is kept
  int64_t rows = 0, width = 0, stride = 0;
};

struct NormShape {
  int64_t k0 = 1, r0 = 1, k1 = 1, r1 = 1;

  int64_t channels() const { return k0 * k1; }
  /// Elements per channel.
  int64_t count() const { return r0 * r1; }
  bool by_columns() const { return r1 == 1 && k1 > 1; }

  /// The number of blocks that a channel is spread over, and elements per channel in block b.
  int64_t depth() const { return cuts_0 * cuts_1; }
  int64_t count(int64_t b) const;
  /// Total number of blocks.
  int64_t blocks() const { return by_columns() ? k0 * depth() * tiles : k0 * k1 * depth(); }
  NormBlock block(int64_t index) const;
  /// Partial results: one per channel and block, [k0][block][k1].
  int64_t partials() const { return k0 * depth() * k1; }
  int64_t grain() const;

  // How it is cut; set by norm_shape.
  int64_t step_0 = 1, cuts_0 = 1;  // along r0
  int64_t step_1 = 1, cuts_1 = 1;  // along r1
  int64_t tile = 1, tiles = 1;     // along k1, by columns only
};

/// nullopt if kept and reduced axes alternate more often.
std::optional<NormShape> norm_shape(const Shape& x, const Ints& axes);

/// For other axes: the kernel with transpositions, kept axes first, of everything in the shape of x
/// around it. `attrs` are those of the inner kernel, which reduces the last `reduced` axes.
KernelPtr make_transposed_norm(const KernelCall& call, const Ints& axes, const AttrRef& attrs,
                               KernelFactory make);
template <class A>
KernelPtr make_transposed_norm(const KernelCall& call, A a, KernelFactory make) {
  const Ints axes = a.axes;
  const auto kept = static_cast<int64_t>(call.in[0].shape.ndim() - axes.size());
  for (size_t i = 0; i < a.axes.size(); ++i) a.axes[i] = kept + static_cast<int64_t>(i);
  return make_transposed_norm(call, axes, AttrRef(new AttrsOf<A>(std::move(a))), make);
}

// SIMD loops over a block. By columns, `mean`, `a`, `b`, `c` and the results have an entry per
// column, otherwise one.

/// Mean, in two parts to be added in double (one float is not enough for numbers far from 0), and
/// the sum of squared distances from it.
void norm_moments(bool by_columns, const NormBlock& k, const float* x, float* mean, float* rest,
                  float* squares);
void norm_moments(bool by_columns, const NormBlock& k, const double* x, double* mean, double* rest,
                  double* squares);
/// sum(dy), sum(dy * (x - mean))
void norm_sums(bool by_columns, const NormBlock& k, const float* x, const float* dy,
               const float* mean, float* sum, float* product);
void norm_sums(bool by_columns, const NormBlock& k, const double* x, const double* dy,
               const double* mean, double* sum, double* product);
/// y = (x - mean) * b + c, plus a * dy unless dy is null
void norm_apply(bool by_columns, const NormBlock& k, const float* x, const float* dy,
                const float* mean, const float* a, const float* b, const float* c, float* y);
void norm_apply(bool by_columns, const NormBlock& k, const double* x, const double* dy,
                const double* mean, const double* a, const double* b, const double* c, double* y);

}  // namespace horngate::native
