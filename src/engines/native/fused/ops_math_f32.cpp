// Vector math of float32 lanes.
#include "engines/native/fused/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/fused/ops_math_f32.cpp"
#include "hwy/foreach_target.h"

#include "engines/native/fused/loop-inl.h"
#include "engines/native/fused/math-inl.h"
#include "engines/native/fused/pow-inl.h"
#include "engines/native/fused/simd.h"
#include "engines/native/fused/trig-inl.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {

void fill_math_f32(Kernels& k) {
  k.set(Op::exp, Lane::f32, unary_kernel<float, Exp>);
  k.set(Op::expm1, Lane::f32, unary_kernel<float, Expm1>);
  k.set(Op::log, Lane::f32, unary_kernel<float, Log>);
  k.set(Op::log1p, Lane::f32, unary_kernel<float, Log1p>);
  k.set(Op::tanh, Lane::f32, unary_kernel<float, Tanh>);
  k.set(Op::sigmoid, Lane::f32, unary_kernel<float, Sigmoid>);
  k.set(Op::erf, Lane::f32, unary_kernel<float, Erf>);
  k.set(Op::sin, Lane::f32, unary_kernel<float, Sin>);
  k.set(Op::cos, Lane::f32, unary_kernel<float, Cos>);
  k.set(Op::pow, Lane::f32, binary_kernel<float, Pow>);
  k.set(Op::sigmoid_tanh, Lane::f32, binary_kernel<float, SigmoidTanh>);
  k.set(Op::sigmoid_tanh_add, Lane::f32, ternary_kernel<float, SigmoidTanhAdd>);
  k.set(Op::exp_nmul, Lane::f32, binary_kernel<float, ExpNegatedMul>);
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#define HORNGATE_FILL fill_math_f32
#include "engines/native/fused/fill-inl.h"
#endif
