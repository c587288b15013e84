// Batch and L2 normalisation.
#include <algorithm>

#include "api/args.h"
#include "api/dims.h"
#include "horngate/ops/nn.h"

namespace horngate {
namespace {

/// A statistic, or its scale, in the dtype of x; a one-dimensional one lies along `axis`.
Tensor along_axis(std::string_view function, std::string_view argument, const Tensor& given,
                  const Tensor& x, int64_t axis) {
  Tensor t = prim::cast(float_operand(function, given, argument), x.dtype());
  const auto rank = static_cast<int64_t>(x.ndim());
  if (t.ndim() == 1 && axis != rank - 1) {
    Ints axes;
    for (int64_t i = 1; i < rank - axis; ++i) axes.push_back(i);
    t = prim::expand_dims(t, axes);
  }
  check_broadcast(function, x, t);
  return t;
}

/// gamma or beta in the shape of the axes that stay; `missing` everywhere if there is none.
Tensor per_feature(std::string_view function, std::string_view argument, const Tensor& given,
                   double missing, const SymDims& features, DType dtype) {
  const SymShape shape = shape_of_dims(features);
  if (!given.defined()) return prim::full(shape, missing, dtype);
  const Tensor t = prim::cast(float_operand(function, given, argument), dtype);
  if (t.ndim() != features.size()) return prim::reshape(t, shape);
  for (size_t i = 0; i < features.size(); ++i) {
    const int64_t has = t.shape().dim(i);
    check(has < 0 || !features[i].is_known() || has == features[i].known, function, argument,
          " must have the shape of x without reduction_axes, ", Shape(shape.dims), "; got ",
          t.shape(), ".");
  }
  return t;
}

}  // namespace

NormalizedBatch normalize_batch_in_training(const Tensor& x, const Tensor& gamma,
                                            const Tensor& beta, const Ints& reduction_axes,
                                            double epsilon) {
  const CalledAs called(__func__);
  constexpr const char* kName = "normalize_batch_in_training";
  const Tensor in = float_operand(kName, x);
  const Ints axes = axes_of(kName, Axis(reduction_axes), in);
  SymDims features;
  for (size_t i = 0; i < in.ndim(); ++i)
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end())
      features.push_back(dim_of(in, i));
  const Tensors r =
      outputs_of(emit(attrs::batch_norm{.axes = axes, .epsilon = epsilon},
                      {in, per_feature(kName, "gamma", gamma, 1.0, features, in.dtype()),
                       per_feature(kName, "beta", beta, 0.0, features, in.dtype())}));
  return {r[0], r[1], r[2]};
}

// 1e-12 as in TensorFlow. In float16 that is 0, so half types are computed in float32.
Tensor l2_normalize(const Tensor& x, const Axis& axis) {
  const CalledAs called(__func__);
  const Tensor given = float_operand("l2_normalize", x);
  const Ints axes = axes_of("l2_normalize", axis, given);
  const Tensor in = prim::widened(given);
  const Tensor norm = prim::reduce_sum(prim::mul(in, in), axes, true);
  const Tensor y = prim::mul(in, prim::rsqrt(prim::maximum(norm, prim::scalar(1e-12, in.dtype()))));
  return prim::cast(y, given.dtype());
}

// x * scale + (beta - mean * scale): scale and offset are as small as the statistics, which leaves
// one multiplication and one addition per element. Half types are computed in float32: a variance need not fit float16.
Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& var,
                           const Tensor& beta, const Tensor& gamma,
                           const BatchNormalizationOptions& o) {
  const CalledAs called(__func__);
  constexpr const char* kName = "batch_normalization";
  const Tensor given = float_operand(kName, x), in = prim::widened(given);
  const int64_t axis = normalize_axis(kName, o.axis, in.shape());
  const Tensor m = along_axis(kName, "mean", mean, in, axis);
  Tensor scale = prim::rsqrt(prim::shift(along_axis(kName, "var", var, in, axis), o.epsilon));
  if (gamma.defined()) scale = prim::mul(scale, along_axis(kName, "gamma", gamma, in, axis));
  Tensor offset = prim::neg(prim::mul(m, scale));
  if (beta.defined()) offset = prim::add(along_axis(kName, "beta", beta, in, axis), offset);
  return prim::cast(prim::add(prim::mul(in, scale), offset), given.dtype());
}

}  // namespace horngate
