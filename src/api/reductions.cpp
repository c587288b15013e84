// Reductions and cumulative functions along axes.
#include <cmath>

#include "api/args.h"
#include "horngate/ops/elementwise.h"

namespace horngate {
namespace {

/// A reduction of numbers; bool counts as 0 and 1.
Tensor reduce_numbers(std::string_view function, Prim which, const Tensor& x,
                      const ReduceOptions& options) {
  const Tensor t = numeric_operand(function, x);
  return prim::reduce(which, t, axes_of(function, options.axis, t), options.keepdims);
}

Tensor reduce_bools(std::string_view function, Prim which, const Tensor& x,
                    const ReduceOptions& options) {
  const Tensor t = prim::cast(dense_operand(function, x), DType::bool_);
  return prim::reduce(which, t, axes_of(function, options.axis, t), options.keepdims);
}

/// Computed in float32 for half types.
Tensor variance(std::string_view function, const Tensor& x, const ReduceOptions& options) {
  const Tensor t = prim::widened(x);
  const Ints axes = axes_of(function, options.axis, t);
  const Tensor deviation = prim::sub(t, prim::reduce_mean(t, axes, true));
  return prim::reduce_mean(prim::mul(deviation, deviation), axes, options.keepdims);
}

}  // namespace

Tensor max(const Tensor& x, const ReduceOptions& options) {
  const CalledAs called(__func__);
  return own(called, reduce_numbers("max", Prim::reduce_max, x, options));
}
Tensor min(const Tensor& x, const ReduceOptions& options) {
  const CalledAs called(__func__);
  return own(called, reduce_numbers("min", Prim::reduce_min, x, options));
}
Tensor sum(const Tensor& x, const ReduceOptions& options) {
  const CalledAs called(__func__);
  return own(called, reduce_numbers("sum", Prim::reduce_sum, x, options));
}
Tensor prod(const Tensor& x, const ReduceOptions& options) {
  const CalledAs called(__func__);
  return own(called, reduce_numbers("prod", Prim::reduce_prod, x, options));
}

Tensor mean(const Tensor& x, const ReduceOptions& options) {
  const CalledAs called(__func__);
  const Tensor t = float_operand("mean", x);
  return own(called, prim::reduce_mean(t, axes_of("mean", options.axis, t), options.keepdims));
}
Tensor var(const Tensor& x, const ReduceOptions& options) {
  const CalledAs called(__func__);
  const Tensor t = float_operand("var", x);
  return prim::cast(variance("var", t, options), t.dtype());
}
Tensor std(const Tensor& x, const ReduceOptions& options) {
  const CalledAs called(__func__);
  const Tensor t = float_operand("std", x);
  return prim::cast(prim::sqrt(variance("std", t, options)), t.dtype());
}

Tensor any(const Tensor& x, const ReduceOptions& options) {
  const CalledAs called(__func__);
  return own(called, reduce_bools("any", Prim::reduce_any, x, options));
}
Tensor all(const Tensor& x, const ReduceOptions& options) {
  const CalledAs called(__func__);
  return own(called, reduce_bools("all", Prim::reduce_all, x, options));
}

// y = log(sum(exp(x - m))) + m with m = max x. An infinite m counts as 0, because inf - inf is NaN. Half types are
// summed in float32, where 65,505 is finite. Where the sum is 0 (all are -inf, or there are none), the logarithm is
// inserted directly, so that the gradient is 0 and not NaN.
Tensor logsumexp(const Tensor& x, const ReduceOptions& options) {
  const CalledAs called(__func__);
  const Tensor given = float_operand("logsumexp", x), t = prim::widened(given);
  const Ints axes = axes_of("logsumexp", options.axis, t);
  const auto number = [&](double value) { return prim::scalar(value, t.dtype()); };
  const Tensor top = prim::stop_gradient(prim::reduce_max(t, axes, true));
  const Tensor finite = prim::lt(prim::abs(top), number(INFINITY));
  const Tensor m = prim::select(finite, top, number(0));
  const Tensor total = prim::reduce_sum(prim::exp(prim::sub(t, m)), axes, true);
  const Tensor nothing = prim::eq(total, number(0));
  const Tensor log = prim::log(prim::select(nothing, number(1), total));
  const Tensor y =
      prim::cast(prim::add(prim::select(nothing, number(-INFINITY), log), m), given.dtype());
  return options.keepdims ? y : prim::squeeze(y, axes);
}

Tensor cumsum(const Tensor& x, int64_t axis) {
  const CalledAs called(__func__);
  const Tensor t = numeric_operand("cumsum", x);
  return emit(attrs::cumsum{.axis = normalize_axis("cumsum", axis, t.shape())}, {t});
}
Tensor cumprod(const Tensor& x, int64_t axis) {
  const CalledAs called(__func__);
  const Tensor t = numeric_operand("cumprod", x);
  return emit(attrs::cumprod{.axis = normalize_axis("cumprod", axis, t.shape())}, {t});
}

Tensor argmax(const Tensor& x, int64_t axis) {
  const CalledAs called(__func__);
  const Tensor t = numeric_operand("argmax", x);
  return emit(attrs::argmax{.axis = normalize_axis("argmax", axis, t.shape())}, {t});
}
Tensor argmin(const Tensor& x, int64_t axis) {
  const CalledAs called(__func__);
  const Tensor t = numeric_operand("argmin", x);
  return emit(attrs::argmin{.axis = normalize_axis("argmin", axis, t.shape())}, {t});
}

}  // namespace horngate
