// Vector math of float64 lanes.
#include "engines/native/fused/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/fused/ops_math_f64.cpp"
#include "hwy/foreach_target.h"

#include "engines/native/fused/loop-inl.h"
#include "engines/native/fused/math-inl.h"
#include "engines/native/fused/pow-inl.h"
#include "engines/native/fused/simd.h"
#include "engines/native/fused/trig-inl.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {

void fill_math_f64(Kernels& k) {
  k.set(Op::exp, Lane::f64, unary_kernel<double, Exp>);
  k.set(Op::expm1, Lane::f64, unary_kernel<double, Expm1>);
  k.set(Op::log, Lane::f64, unary_kernel<double, Log>);
  k.set(Op::log1p, Lane::f64, unary_kernel<double, Log1p>);
  k.set(Op::tanh, Lane::f64, unary_kernel<double, Tanh>);
  k.set(Op::sigmoid, Lane::f64, unary_kernel<double, Sigmoid>);
  k.set(Op::erf, Lane::f64, unary_kernel<double, Erf>);
  k.set(Op::sin, Lane::f64, unary_kernel<double, Sin>);
  k.set(Op::cos, Lane::f64, unary_kernel<double, Cos>);
  k.set(Op::pow, Lane::f64, binary_kernel<double, Pow>);
  k.set(Op::sigmoid_tanh, Lane::f64, binary_kernel<double, SigmoidTanh>);
  k.set(Op::sigmoid_tanh_add, Lane::f64, ternary_kernel<double, SigmoidTanhAdd>);
  k.set(Op::exp_nmul, Lane::f64, binary_kernel<double, ExpNegatedMul>);
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#define HORNGATE_FILL fill_math_f64
#include "engines/native/fused/fill-inl.h"
#endif
