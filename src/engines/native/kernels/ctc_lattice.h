// The CTC lattice of one sample: states are blank, label, blank, label, .. blank; a step in time
// stays, goes to the next state, or jumps over a blank between two different labels. Alphas are
// logarithms, each row relative to the largest entry of the row before; the sum of what was
// subtracted is kept in double, so float keeps its precision over thousands of steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/native/kernels/ctc.h"

namespace horngate::native::kernels::ctc {

template <class R>
class Lattice {
 public:
  static constexpr R kZero = static_cast<R>(kLogZero);

  static int64_t width_for(int64_t labels) {
    return (2 * labels + 1 + kStates - 1) / kStates * kStates;
  }
  /// A row with two additional entries on either side, which are log 0.
  static int64_t stride_for(int64_t labels) { return width_for(labels) + kStates; }

  /// `rows`: how many alphas are kept, at least 2.
  Lattice(Scratch& scratch, const Sizes& sizes, int64_t rows)
      : blank_(sizes.blank()), stride_(stride_for(sizes.labels)), kept_(rows) {
    emit_ = scratch.take<R>(stride_) + 2;
    skip_ = scratch.take<R>(stride_) + 2;
    alpha_ = scratch.take<R>(stride_ * rows) + 2;
    stats_ = scratch.take<RowStats<R>>(rows);
  }

  void start(const int64_t* labels, int64_t count) {
    labels_ = labels;
    count_ = count;
    states_ = 2 * count + 1;
    width_ = width_for(count);
    std::fill(emit_ - 2, emit_ + width_ + 2, kZero);
    std::fill(skip_ - 2, skip_ + width_ + 2, kZero);
    // From the virtual state -1 to state 1, and from the last label to the virtual state after the
    // last.
    skip_[1] = skip_[states_] = 0;
    for (int64_t i = 1; i < count; ++i)
      if (labels[i] != labels[i - 1]) skip_[2 * i + 1] = 0;
  }

  /// log p(labels | x) over `time` rows, given by x(t): -inf if no path fits, NaN if a row has no
  /// softmax.
  template <class Row>
  double forward(int64_t time, Row x, int64_t classes) {
    if (needed() > time) return -std::numeric_limits<double>::infinity();
    R* from = alpha(-1);
    clear(from);
    from[-1] = 0;
    double offset = 0;
    R shift = 0;
    bool possible = true;
    for (int64_t t = 0; t < time; ++t) {
      const R* row = x(t);
      const RowStats<R> stats = stats_[(t + 1) % kept_] = row_stats(row, classes);
      const double norm = static_cast<double>(stats.max) + std::log(static_cast<double>(stats.sum));
      if (!std::isfinite(norm)) return std::numeric_limits<double>::quiet_NaN();
      const R top = set_emissions(row);
      possible = possible && top > -std::numeric_limits<R>::infinity() && shift > kImpossible;
      if (!possible) continue;  // a later row may still be NaN
      offset += static_cast<double>(shift) + static_cast<double>(top) - norm;
      R* to = alpha(t);
      close(to);
      shift = step_forward(from, emit_, skip_, shift, width_, to);
      from = to;
    }
    if (time == 0) return 0;  // needed() was 0
    const double last = from[states_ - 1], label = from[states_ - 2];
    const double top = std::max(last, label);
    if (!possible || top < kImpossible) return -std::numeric_limits<double>::infinity();
    return offset + top + std::log1p(std::exp(std::min(last, label) - top));
  }

  // After a forward pass that kept all alphas, for t = time - 1 down to 0: posterior probabilities
  // of the states.

  /// The caller supplies the two rows that `backward` uses in turn.
  void start_backward(R* first, R* second) {
    beta_ = first + 2;
    spare_ = second + 2;
    clear(beta_);
    beta_[states_] = 0;
    shift_ = 0;
  }

  /// p[s] / (returned sum) is the probability of state s at time t.
  R backward(int64_t t, const R* row, R* p) {
    set_emissions(row);
    close(spare_);
    shift_ = step_backward(beta_, emit_, skip_, shift_, width_, spare_);
    std::swap(beta_, spare_);
    return posterior(alpha(t), beta_, emit_, width_, p);
  }

  const RowStats<R>& stats(int64_t t) const { return stats_[(t + 1) % kept_]; }

 private:
  R* alpha(int64_t t) { return alpha_ + (t + 1) % kept_ * stride_; }
  void clear(R* row) { std::fill(row - 2, row + width_ + 2, kZero); }
  void close(R* row) { row[-2] = row[-1] = row[width_] = row[width_ + 1] = kZero; }

  // Equal neighbours need a blank between them.
  int64_t needed() const {
    int64_t steps = count_;
    for (int64_t i = 1; i < count_; ++i) steps += labels_[i] == labels_[i - 1];
    return steps;
  }

  // Sets x of each state relative to the largest of them, which it returns.
  R set_emissions(const R* x) {
    R top = x[blank_];
    for (int64_t i = 0; i < count_; ++i) top = std::max(top, x[labels_[i]]);
    if (!(top > -std::numeric_limits<R>::infinity())) return top;
    const R blank = std::max(x[blank_] - top, kZero);
    for (int64_t i = 0; i < count_; ++i) {
      emit_[2 * i] = blank;
      emit_[2 * i + 1] = std::max(x[labels_[i]] - top, kZero);
    }
    emit_[2 * count_] = blank;
    return top;
  }

  int64_t blank_, stride_, kept_;
  const int64_t* labels_ = nullptr;
  int64_t count_ = 0, states_ = 1, width_ = kStates;
  R *emit_, *skip_, *alpha_;
  RowStats<R>* stats_;
  R *beta_ = nullptr, *spare_ = nullptr;
  R shift_ = 0;
};

}  // namespace horngate::native::kernels::ctc
