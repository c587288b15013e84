// batch_norm(x, gamma, beta) -> y, mean, var: y = (x - mean) / sqrt(var + epsilon) * gamma + beta,
// with mean and biased variance over `axes`; gamma, beta, mean and var have the shape of the other
// axes.
#include "prims/norm_rules.h"

namespace horngate {
namespace {

using A = attrs::batch_norm;

Types infer(const InferCall& c, const A& a) {
  const Shape kept = rules::kept_shape("batch_norm", c.in[0], a.axes);
  const char* const names[] = {"x", "gamma", "beta"};
  for (size_t i = 1; i < 3; ++i)
    rules::check_per_channel("batch_norm", names[i], c.in[i], c.in[0], kept);
  rules::check_dense("batch_norm", c);
  const TensorType statistic(c.in[0].dtype, kept);
  return {c.in[0], statistic, statistic};
}

// Through y: batch_norm_grad. Through mean and var, for n elements per channel:
// dx += dmean / n + dvar * 2 (x - mean) / n
Tensors grad(const GradCall& c, const A& a) {
  const Tensor &x = c.in(0), &gamma = c.in(1);
  const Tensor mean = c.out(1), var = c.out(2);
  const Tensor wide = prim::widened(x);
  Tensors r(3);
  const auto add = [&](const Tensor& part_of_wide) {
    const Tensor part = prim::cast(part_of_wide, x.dtype());
    r[0] = r[0].defined() ? prim::add(r[0], part) : part;
  };
  if (c.dy[0].defined())
    r = outputs_of(emit(attrs::batch_norm_grad{.axes = a.axes, .epsilon = a.epsilon},
                        {x, gamma, mean, var, c.dy[0]}));
  const Tensor n = prim::count(x, a.axes, wide.dtype());
  if (c.dy[1].defined())
    add(prim::broadcast_like(prim::expand_dims(prim::div(prim::widened(c.dy[1]), n), a.axes), x));
  if (c.dy[2].defined()) {
    const Tensor twice = prim::scale(prim::widened(c.dy[2]), 2.0);
    const Tensor factor = prim::expand_dims(prim::div(twice, n), a.axes);
    add(prim::mul(factor, prim::sub(wide, prim::expand_dims(prim::widened(mean), a.axes))));
  }
  return r;
}

// Half types in float32.
Tensors decompose(std::span<const Tensor> in, const A& a) {
  const auto wide = [&](const Tensor& t) { return prim::expand_dims(prim::widened(t), a.axes); };
  const Tensor x = prim::widened(in[0]);
  const Tensor mean = prim::reduce_mean(x, a.axes, true);
  const Tensor centered = prim::sub(x, mean);
  const Tensor var = prim::reduce_mean(prim::mul(centered, centered), a.axes, true);
  const Tensor scale = prim::mul(prim::rsqrt(prim::shift(var, a.epsilon)), wide(in[1]));
  const Tensor y = prim::add(prim::mul(centered, scale), wide(in[2]));
  const auto narrow = [&](const Tensor& t) { return prim::cast(t, in[0].dtype()); };
  return {narrow(y), narrow(prim::squeeze(mean, a.axes)), narrow(prim::squeeze(var, a.axes))};
}

}  // namespace
HORNGATE_PRIMITIVE(batch_norm, {.infer = infer, .grad = grad, .decompose = decompose})
}  // namespace horngate
