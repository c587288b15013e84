// batch_norm_grad(x, gamma, mean, var, dy) -> dx, dgamma, dbeta. With r = 1 / sqrt(var + epsilon),
// n elements per channel, s = sum(dy) and p = sum(dy * (x - mean)):
// dbeta = s, dgamma = p r, dx = gamma r (dy - s / n - (x - mean) r^2 p / n).
// Second derivatives go through the decomposition.
#include "prims/norm_rules.h"

namespace horngate {
namespace {

using A = attrs::batch_norm_grad;

Types infer(const InferCall& c, const A& a) {
  const Shape kept = rules::kept_shape("batch_norm_grad", c.in[0], a.axes);
  const char* const names[] = {"x", "gamma", "mean", "var"};
  for (size_t i = 1; i < 4; ++i)
    rules::check_per_channel("batch_norm_grad", names[i], c.in[i], c.in[0], kept);
  rules::check_per_channel("batch_norm_grad", "dy", c.in[4], c.in[0], c.in[0].shape);
  rules::check_dense("batch_norm_grad", c);
  const TensorType channel(c.in[0].dtype, kept);
  return {c.in[0], channel, channel};
}

// Half types in float32.
Tensors decompose(std::span<const Tensor> in, const A& a) {
  const Tensor x = prim::widened(in[0]), gamma = prim::widened(in[1]), mean = prim::widened(in[2]),
               var = prim::widened(in[3]), dy = prim::widened(in[4]);
  const auto wide = [&](const Tensor& t) { return prim::expand_dims(t, a.axes); };
  const auto narrow = [&](const Tensor& t) { return prim::cast(t, in[0].dtype()); };
  const Tensor n = prim::count(x, a.axes, x.dtype());
  const Tensor centered = prim::sub(x, wide(mean));
  const Tensor r = prim::rsqrt(prim::shift(var, a.epsilon));
  const Tensor s = prim::reduce_sum(dy, a.axes),
               p = prim::reduce_sum(prim::mul(dy, centered), a.axes);
  const Tensor slope = prim::div(prim::mul(prim::mul(r, r), p), n);
  const Tensor rest = prim::add(wide(prim::div(s, n)), prim::mul(centered, wide(slope)));
  const Tensor dx = prim::mul(wide(prim::mul(gamma, r)), prim::sub(dy, rest));
  return {narrow(dx), narrow(prim::mul(p, r)), narrow(s)};
}

}  // namespace
HORNGATE_PRIMITIVE(batch_norm_grad, {.infer = infer, .decompose = decompose})
}  // namespace horngate
