// The CTC loss built from simple primitives, for derivatives beyond the first.
//
// The lattice of a sample has the states start, blank, label, blank, label, .. blank: 2 max_labels + 2 of them. A
// step in time stays, goes to the next state, or jumps over a blank between two different labels (or from the
// start to the first label), and multiplies by the probability of the class of the state where it ends. `start`
// is left at the first step. All probabilities are logarithms; kLogZero stands for log 0, so that no difference
// is NaN.
#include "prims/ctc.h"

#include <limits>

#include "prims/scan.h"

namespace horngate::rules {
namespace {

constexpr double kLogZero = -1e30, kImpossible = kLogZero / 2;

Tensor int_scalar(int64_t value) { return prim::constant(Array(value)); }

/// x moved by n along axis 1, filled with `fill`.
Tensor moved(const Tensor& x, int64_t n, double fill) {
  return prim::slice_axis(prim::pad(x, {0, n}, {0, 0}, fill), 1, 0, -n);
}

/// log(sum of exp) of tensors of one shape. The maximum cancels, so it needs no derivative.
Tensor log_add(const Tensors& xs) {
  Tensor top = xs[0];
  for (const Tensor& x : xs) top = prim::maximum(top, x);
  top = prim::stop_gradient(top);
  Tensor sum;
  for (const Tensor& x : xs) {
    const Tensor e = prim::exp(prim::sub(x, top));
    sum = sum.defined() ? prim::add(sum, e) : e;
  }
  return prim::add(top, prim::log(sum));
}

/// 0, 1, 2, .. in the shape of x, int64.
Tensor numbers_like(const Tensor& x) {
  if (x.shape().is_static())
    return prim::reshape(prim::iota(x.shape().size(), DType::int64), x.shape().dims());
  const Tensor n = prim::expand_dims(prim::count(x, prim::all_axes(x), DType::int64), {0});
  return prim::reshape_like(prim::iota(SymShape{{kFromOperand}, n}, DType::int64), x);
}

/// 0, 1, 2, .. in each row of a matrix, int64.
Tensor place_in_row(const Tensor& x) {
  return emit(attrs::cumsum{.axis = 1, .exclusive = true}, {prim::full_like(x, 1)});
}

/// Labels before the first blank: a blank ends them, whatever label_length says.
Tensor used_labels(const Tensor& x, const Tensor& labels, const Tensor& label_length) {
  const Tensor blank = prim::sub(prim::count(x, {2}, DType::int64), int_scalar(1));
  const Tensor is_blank =
      prim::cast(prim::eq(prim::cast(labels, DType::int64), blank), DType::int64);
  const Tensor blanks = emit(attrs::cumsum{.axis = 1}, {is_blank});
  const Tensor before = prim::cast(prim::eq(blanks, int_scalar(0)), DType::int64);
  return prim::minimum(prim::cast(label_length, DType::int64), prim::reduce_sum(before, {1}));
}

/// Classes of the states, int64 (batch, states), -1 for start and blanks.
Tensor states_of(const Tensor& labels, const Tensor& label_length) {
  const Tensor l = prim::cast(labels, DType::int64);
  const Tensor n = prim::expand_dims(label_length, {1});
  const Tensor used = prim::lt(place_in_row(l), n);
  const Tensor own = prim::select(used, l, int_scalar(-1));
  const Tensor blank = prim::full_like(own, -1);
  const Tensor pairs =
      prim::concat(Tensors{prim::expand_dims(blank, {2}), prim::expand_dims(own, {2})}, 2);
  // (batch, max_labels, 2) -> (batch, 2 max_labels), with the start in front and the last blank at the end
  SymShape flat;
  flat.operand = prim::mul(prim::shape_of(l), prim::constant(Array::of<int64_t>({1, 2})));
  prim::known_ints(flat.operand, &flat.dims);
  if (!from_operand(flat.dims)) flat.operand = {};
  return prim::pad(prim::reshape(pairs, flat), {0, 1}, {0, 1}, -1);
}

/// log p of the class of each state: (batch, time, states); kLogZero for the start.
Tensor emissions(const Tensor& x, const Tensor& states) {
  const Tensor log_p =
      prim::maximum(emit(attrs::log_softmax{.axis = 2}, {x}), prim::scalar(kLogZero, x.dtype()));
  const Tensor classes = prim::count(x, {2}, DType::int64), one = int_scalar(1);
  const Tensor k = prim::select(prim::lt(states, int_scalar(0)), prim::sub(classes, one), states);
  // Index into the flat log_p: (b * time + t) * classes + k. A label that is not a class points past its end.
  const Tensor first = prim::mul(numbers_like(prim::slice_axis(x, 2, 0, 1)), classes);
  const Tensor at = prim::add(first, prim::expand_dims(k, {1}));
  const Tensor bad = prim::expand_dims(prim::ge(k, classes), {1});
  const Tensor all = prim::count(x, {0, 1, 2}, DType::int64);
  const Tensor e = prim::gather(prim::reshape(log_p, Ints{kInfer}), prim::select(bad, all, at), 0);
  return prim::pad(prim::slice_axis(e, 2, 1, kToEnd), {0, 0, 1}, {0, 0, 0}, kLogZero);
}

}  // namespace

Tensor ctc_loss_of_parts(const Tensor& inputs, const Tensor& labels, const Tensor& input_length,
                         const Tensor& label_length) {
  const bool half = size_of(inputs.dtype()) < 4;
  const Tensor x = half ? prim::cast(inputs, DType::float32) : inputs;
  const Tensor zero = prim::scalar(0, x.dtype()), log_zero = prim::scalar(kLogZero, x.dtype());
  const Tensor n_labels = used_labels(x, labels, label_length);
  const Tensor states = states_of(labels, n_labels);
  const Tensor jumps =
      prim::logical_and(prim::ge(states, int_scalar(0)), prim::ne(states, moved(states, 2, -1)));
  const Tensor steps = prim::expand_dims(prim::cast(input_length, DType::int64), {1});
  const Tensor number = place_in_row(states);
  ScanSpec spec{.xs = {emissions(x, states)},
                .x_axes = {1},
                .x_reversed = {0},
                .inits = {prim::select(prim::eq(number, int_scalar(0)), zero, log_zero)},
                .y_axes = {},
                .y_reversed = {}};
  const auto step = [&](const Tensors& e, const Tensors& carries, const Tensor& t) {
    const Tensor& a = carries[0];
    const Tensor jumped = prim::select(jumps, moved(a, 2, kLogZero), log_zero);
    const Tensor next = prim::add(e[0], log_add({a, moved(a, 1, kLogZero), jumped}));
    return StepResult{{prim::select(prim::lt(t, steps), next, a)}, {}};
  };
  const Tensor alpha = make_scan("ctc_loss", spec, step)[0];

  // The last label or the blank after it.
  const Tensor end = prim::scale(prim::expand_dims(n_labels, {1}), 2);
  const Tensor is_end =
      prim::logical_or(prim::eq(number, end), prim::eq(number, prim::add(end, int_scalar(1))));
  const Tensor last = prim::select(is_end, alpha, log_zero);
  const Tensor top = prim::stop_gradient(prim::reduce_max(last, {1}, true));
  const Tensor sum = prim::reduce_sum(prim::exp(prim::sub(last, top)), {1});
  const Tensor log_p = prim::add(prim::squeeze(top, {1}), prim::log(sum));
  const Tensor loss = prim::select(prim::lt(log_p, prim::scalar(kImpossible, x.dtype())),
                                   prim::scalar(std::numeric_limits<double>::infinity(), x.dtype()),
                                   prim::neg(log_p));
  return half ? prim::cast(loss, inputs.dtype()) : loss;
}

}  // namespace horngate::rules
