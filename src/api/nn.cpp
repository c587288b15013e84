// Activations, losses, dropout and bias.
#include "horngate/ops/nn.h"

#include <algorithm>
#include <limits>

#include "api/args.h"
#include "api/dims.h"
#include "api/draws.h"
#include "api/shapes.h"
#include "horngate/config.h"

namespace horngate {
namespace {

Tensor zero_of(const Tensor& x) { return prim::scalar(0.0, x.dtype()); }

/// x limited to [low, high]; at the ends the gradient still passes.
Tensor clip(const Tensor& x, double low, double high) {
  return prim::minimum(prim::maximum(x, prim::scalar(low, x.dtype())),
                       prim::scalar(high, x.dtype()));
}

/// Keeps probabilities away from 0 and 1, so that logarithms stay finite.
Tensor clip_probabilities(const Tensor& p) { return clip(p, epsilon(), 1.0 - epsilon()); }

// max(x, 0) + log(1 + exp(-|x|)). For the value alone max and abs would do, but select makes the
// gradient at 0 the correct 1/2.
Tensor softplus_of(const Tensor& given) {
  const Tensor x = prim::widened(given);  // a half type would round each of these steps
  const Tensor positive = prim::gt(x, zero_of(x));
  const Tensor minus_abs = prim::select(positive, prim::neg(x), x);
  const Tensor y =
      prim::add(prim::select(positive, x, zero_of(x)), prim::log1p(prim::exp(minus_abs)));
  return prim::cast(y, given.dtype());
}

struct LossOperands {
  Tensor target, output;
  DType dtype;  // of the loss
};

/// Target and output of a loss in one float dtype; halves wider, since the loss is what is rounded.
LossOperands losses_of(std::string_view function, const Tensor& target, const Tensor& output) {
  Tensor t = dense_operand(function, target, "target"),
         o = float_operand(function, output, "output");
  unify(function, &t, &o);
  return {prim::widened(t), prim::widened(o), o.dtype()};
}

}  // namespace

Tensor relu(const Tensor& x, const ReluOptions& o) {
  const CalledAs called(__func__);
  Tensor in = numeric_operand("relu", x);
  // Integers become floats if one of these is fractional.
  for (const Number& n : {o.alpha, Number(o.threshold), o.max_value}) {
    if (n.is_number())
      weak_scalar(n.value(), &in);
    else if (n.is_tensor())
      in = prim::cast(in, common_dtype(in.dtype(), dense_operand("relu", n.tensor()).dtype()));
  }
  const auto scalar = [&](double number) { return prim::scalar(number, in.dtype()); };
  const auto scaled = [&](const Tensor& t) {
    return o.alpha.is_number() ? prim::scale(t, o.alpha.value())
                               : prim::mul(t, parameter_of("relu", o.alpha, in.dtype(), "alpha"));
  };
  const Tensor zero = scalar(0.0);
  const bool is_plain = o.alpha.is_number() && o.alpha.value() == 0;
  if (!is_plain && o.threshold == 0 && o.max_value.is_none())
    return prim::select(prim::gt(in, zero), in, scaled(in));

  Tensor y = in;
  // Written with <=, this lets NaN pass. So does the maximum; with zero first it gives x no
  // gradient at 0.
  if (o.threshold != 0) y = prim::select(prim::le(in, scalar(o.threshold)), zero, in);
  if (!o.max_value.is_none())
    y = prim::minimum(y, parameter_of("relu", o.max_value, in.dtype(), "max_value"));
  if (!o.max_value.is_none() || o.threshold == 0) y = prim::maximum(zero, y);
  if (is_plain) return y;
  // Unlike threshold - x, this wraps around in no integer type where x is above the threshold.
  const Tensor threshold = scalar(o.threshold);
  return prim::add(y, scaled(prim::sub(prim::minimum(threshold, in), threshold)));
}

// The exponential never sees a positive x: it could overflow, and 0 * inf in the gradient is NaN.
Tensor elu(const Tensor& x, const Number& alpha) {
  const CalledAs called(__func__);
  const Tensor given = float_operand("elu", x), in = prim::widened(given);
  const Tensor positive = prim::gt(in, zero_of(in));
  const Tensor negative_part = prim::select(positive, zero_of(in), in);
  const Tensor below = prim::expm1(negative_part);
  const Tensor scaled = alpha.is_number()
                            ? prim::scale(below, alpha.value())
                            : prim::mul(below, parameter_of("elu", alpha, in.dtype(), "alpha"));
  return prim::cast(prim::select(positive, in, scaled), given.dtype());
}

Tensor softmax(const Tensor& x, int64_t axis) {
  const CalledAs called(__func__);
  const Tensor in = float_operand("softmax", x);
  return emit(attrs::softmax{.axis = normalize_axis("softmax", axis, in.shape())}, {in});
}

Tensor softplus(const Tensor& x) {
  const CalledAs called(__func__);
  return softplus_of(float_operand("softplus", x));
}

Tensor softsign(const Tensor& x) {
  const CalledAs called(__func__);
  const Tensor given = float_operand("softsign", x), in = prim::widened(given);
  return prim::cast(prim::div(in, prim::shift(prim::abs(in), 1.0)), given.dtype());
}

Tensor sigmoid(const Tensor& x) {
  const CalledAs called(__func__);
  return prim::sigmoid(float_operand("sigmoid", x));
}

Tensor hard_sigmoid(const Tensor& x) {
  const CalledAs called(__func__);
  const Tensor given = float_operand("hard_sigmoid", x), in = prim::widened(given);
  return prim::cast(clip(prim::shift(prim::scale(in, 0.2), 0.5), 0.0, 1.0), given.dtype());
}

Tensor tanh(const Tensor& x) {
  const CalledAs called(__func__);
  return prim::tanh(float_operand("tanh", x));
}

Tensor categorical_crossentropy(const Tensor& target, const Tensor& output,
                                const CrossentropyOptions& o) {
  const CalledAs called(__func__);
  constexpr const char* kName = "categorical_crossentropy";
  const auto [t, p, dtype] = losses_of(kName, target, output);
  const int64_t axis = normalize_axis(kName, o.axis, p.shape(), "axis", "output");
  check_broadcast(kName, t, p);
  Tensor log_p;
  if (o.from_logits) {
    log_p = emit(attrs::log_softmax{.axis = axis}, {p});
  } else {
    log_p = prim::log(clip_probabilities(prim::div(p, prim::reduce_sum(p, {axis}, true))));
  }
  return prim::cast(prim::neg(prim::reduce_sum(prim::mul(t, log_p), {axis})), dtype);
}

Tensor sparse_categorical_crossentropy(const Tensor& target, const Tensor& output,
                                       const CrossentropyOptions& o) {
  const CalledAs called(__func__);
  constexpr const char* kName = "sparse_categorical_crossentropy";
  const Tensor in = float_operand(kName, output, "output");
  Tensor p = prim::widened(in);
  const int64_t axis = normalize_axis(kName, o.axis, p.shape(), "axis", "output");
  const auto rank = static_cast<int64_t>(p.ndim());
  if (axis != rank - 1) {
    Ints perm;
    for (int64_t i = 0; i < rank; ++i)
      if (i != axis) perm.push_back(i);
    perm.push_back(axis);
    p = prim::transpose(p, perm);
  }
  if (!o.from_logits) p = prim::log(clip_probabilities(p));
  const Tensor log_p = emit(attrs::log_softmax{.axis = rank - 1}, {p});

  // One class number per row, in any shape with that many elements; open sizes are checked in the call.
  SymDims dims = dims_of(p);
  dims.back() = 1;
  const SymShape rows = shape_of_dims(dims);
  const Tensor given = dense_operand(kName, target, "target");
  check(!given.shape().is_static() || !rows.is_static() ||
            given.shape().size() == Shape(rows.dims).size(),
        kName, "target must have one class number per distribution of output of shape ",
        output.shape(), "; got shape ", given.shape(), ".");
  const Tensor labels = prim::reshape(prim::cast(given, DType::int64), rows);

  // 32 bits are enough to find the class, but whether it exists is checked with all 64.
  const SymDim classes = dim_of(p, static_cast<size_t>(rank - 1));
  const Tensor class_of = prim::iota(shape_of_dims({classes}), DType::int32);
  const Tensor hit = prim::eq(prim::cast(labels, DType::int32), class_of);
  const Tensor loss =
      prim::neg(prim::reduce_sum(prim::select(hit, log_p, zero_of(log_p)), {rank - 1}));
  const Tensor row = prim::squeeze(labels, {rank - 1});
  const Tensor is_class = prim::logical_and(
      prim::ge(row, zero_of(row)), prim::lt(row, prim::count(p, {rank - 1}, DType::int64)));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return prim::cast(prim::select(is_class, loss, prim::scalar(nan, loss.dtype())), in.dtype());
}

Tensor binary_crossentropy(const Tensor& target, const Tensor& output, bool from_logits) {
  const CalledAs called(__func__);
  constexpr const char* kName = "binary_crossentropy";
  const auto [t, x, dtype] = losses_of(kName, target, output);
  check_broadcast(kName, t, x);
  // -t log s(x) - (1 - t) log(1 - s(x)) with s = sigmoid
  if (from_logits) return prim::cast(prim::sub(softplus_of(x), prim::mul(x, t)), dtype);
  // epsilon is added again inside the logarithms, as in TensorFlow's Keras
  const Tensor p = clip_probabilities(x), one = prim::scalar(1.0, p.dtype());
  const Tensor log_p = prim::log(prim::shift(p, epsilon()));
  const Tensor log_not_p = prim::log(prim::shift(prim::sub(one, p), epsilon()));
  const Tensor sum = prim::add(prim::mul(t, log_p), prim::mul(prim::sub(one, t), log_not_p));
  return prim::cast(prim::neg(sum), dtype);
}

Tensor dropout(const Tensor& x, const Number& level, const DropoutOptions& o) {
  const CalledAs called(__func__);
  const Tensor in = float_operand("dropout", x);
  if (level.is_number()) {
    check(level.value() >= 0.0 && level.value() < 1.0, "dropout", "level must be in [0, 1); got ",
          level.value(), ".");
    if (level.value() == 0.0) return own(called, in);
  }
  SymDims dims = dims_of(in);
  SymDims fitting = dims;  // of the mask: those of x where only a call can compare the noise's
  bool may_spread = false;
  if (o.noise_shape.whole.defined() || !o.noise_shape.entries.empty()) {
    const SymShape noise = sym_shape_of("dropout", o.noise_shape, "noise_shape");
    check(noise.dims.size() == in.ndim(), "dropout", "noise_shape must have ", in.ndim(),
          " entries for x of shape ", in.shape(), "; got ", noise.dims.size(), ".");
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t n = noise.dims[i];
      check(n == kInfer || n == 1 || n < 0 || !dims[i].is_known() || n == dims[i].known, "dropout",
            "noise_shape must have 1, None or the dimension of x of shape ", in.shape(),
            " on each axis; got ", n, " on axis ", i, ".");
      if (n == kInfer) continue;
      const bool is_open = n != 1 && n != dims[i].known && dims[i].known < 2;
      may_spread |= is_open;
      dims[i] = dim_of(noise, i);
      if (!is_open) fitting[i] = dims[i];
    }
  }
  const SymShape shape = shape_of_dims(dims);
  // Without this a larger mask would repeat an x of one row.
  const auto fit = [&](const Tensor& mask) {
    return may_spread ? prim::broadcast(mask, shape_of_dims(fitting)) : mask;
  };
  if (!level.is_number()) {
    // In float16 a very small keep would round to 0. Where nothing is kept the result is 0.
    const Tensor wide = prim::widened(in), one = prim::scalar(1.0, wide.dtype());
    const Tensor keep = prim::sub(one, parameter_of("dropout", level, wide.dtype(), "level"));
    const Tensor mask = fit(draw_flags("dropout", keep, wide.dtype(), seed_or_next(o.seed), shape));
    const Tensor divisor = prim::select(prim::eq(keep, zero_of(keep)), one, keep);
    return prim::cast(prim::mul(wide, prim::div(mask, divisor)), in.dtype());
  }
  const double keep = 1.0 - level.value();
  const Tensor mask = fit(draw_numbers(
      attrs::random_bernoulli{.dtype = in.dtype(), .seed = seed_or_next(o.seed), .p = keep},
      shape));
  // In float16 1 / keep may be infinite.
  const Tensor wide = prim::widened(in), kept = prim::cast(mask, wide.dtype());
  return prim::cast(prim::mul(wide, prim::scale(kept, 1.0 / keep)), in.dtype());
}

Tensor in_top_k(const Tensor& predictions, const Tensor& targets, int64_t k) {
  const CalledAs called(__func__);
  const Tensor p = float_operand("in_top_k", predictions, "predictions");
  const Tensor t = index_operand("in_top_k", targets, "targets");
  check(p.ndim() == 2, "in_top_k", "predictions must have 2 dimensions; got shape ", p.shape(),
        ".");
  check(t.ndim() == 1, "in_top_k", "targets must have 1 dimension; got shape ", t.shape(), ".");
  return emit(attrs::in_top_k{.k = k}, {p, t});
}

// A bias with several axes is written (spatial.., channels). For channels_first Keras reshapes it
// instead of transposing it, and so do we.
Tensor bias_add(const Tensor& x, const Tensor& bias, DataFormatChoice data_format) {
  const CalledAs called(__func__);
  Tensor in = numeric_operand("bias_add", x), b = numeric_operand("bias_add", bias, "bias");
  unify("bias_add", &in, &b);
  const size_t rank = in.ndim();
  check(rank >= 1, "bias_add", "x must have at least 1 dimension; got shape ", in.shape(), ".");
  check(b.ndim() == 1 || b.ndim() + 1 == rank, "bias_add", "bias must have 1 or ", rank - 1,
        " dimensions for x of shape ", in.shape(), "; got shape ", b.shape(), ".");
  const bool first = rank >= 3 && rank <= 5 &&
                     data_format.value_or(image_data_format()) == DataFormat::channels_first;
  const size_t channel_axis = first ? 1 : rank - 1;
  // Only a call knows whether open sizes agree; a bias of 1 is not spread over more.
  if (b.ndim() == 1 && (in.shape().dim(channel_axis) < 0 || b.shape().dim(0) < 0))
    b = with_size(b, 0, dim_of(in, channel_axis));
  if (first) {
    SymDims dims = dims_of(b);
    const SymDim channels = dims.back();
    dims.pop_back();
    if (b.ndim() == 1) dims.assign(rank - 2, SymDim(1));
    dims.insert(dims.begin(), channels);
    b = prim::reshape(b, shape_of_dims(dims));
  }
  for (size_t i = 0; i < b.ndim(); ++i) {
    const int64_t has = in.shape().dim(rank - b.ndim() + i), adds = b.shape().dim(i);
    check(has < 0 || adds < 0 || has == adds || (adds == 1 && (i > 0 || bias.ndim() > 1)),
          "bias_add", "bias of shape ", bias.shape(), " does not fit x of shape ", in.shape(), " (",
          first ? "channels_first" : "channels_last", ").");
  }
  Tensor y = prim::add(in, b);
  // Where only a call knows sizes: x is not spread over a bias with several axes.
  for (size_t i = 0; i < b.ndim(); ++i) {
    const size_t axis = rank - b.ndim() + i;
    const int64_t adds = b.shape().dim(i);
    if (adds < 0 || (in.shape().dim(axis) < 0 && adds != 1))
      y = with_size(y, axis, dim_of(in, axis));
  }
  return own(called, y);
}

}  // namespace horngate
