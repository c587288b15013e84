// Arithmetic of float32 and float64 lanes.
#include "engines/native/fused/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/fused/ops_float.cpp"
#include "hwy/foreach_target.h"

#include "engines/native/fused/basic-inl.h"
#include "engines/native/fused/float-inl.h"
#include "engines/native/fused/loop-inl.h"
#include "engines/native/fused/scalar_math.h"
#include "engines/native/fused/simd.h"

HWY_BEFORE_NAMESPACE();
namespace horngate::native::fused::HWY_NAMESPACE {
namespace {

struct FloorDiv {
  template <class T>
  T operator()(T a, T b) const {
    return scalar::floordiv(a, b);
  }
};
struct Mod {
  template <class T>
  T operator()(T a, T b) const {
    return scalar::mod(a, b);
  }
};

template <class T>
void fill(Kernels& k, Lane lane) {
  k.set(Op::copy, lane, short_unary_kernel<T, Copy>);
  k.set(Op::neg, lane, short_unary_kernel<T, Neg>);
  k.set(Op::abs, lane, short_unary_kernel<T, Abs>);
  k.set(Op::sign, lane, unary_kernel<T, Sign>);
  k.set(Op::sqrt, lane, unary_kernel<T, Sqrt>);
  k.set(Op::rsqrt, lane, unary_kernel<T, Rsqrt>);
  k.set(Op::floor, lane, short_unary_kernel<T, Floor>);
  k.set(Op::round, lane, short_unary_kernel<T, Round>);
  k.set(Op::add, lane, short_binary_kernel<T, Add>);
  k.set(Op::sub, lane, short_binary_kernel<T, Sub>);
  k.set(Op::mul, lane, short_binary_kernel<T, Mul>);
  k.set(Op::div, lane, short_binary_kernel<T, Div>);
  k.set(Op::maximum, lane, short_binary_kernel<T, Maximum>);
  k.set(Op::minimum, lane, short_binary_kernel<T, Minimum>);
  k.set(Op::nmul, lane, short_binary_kernel<T, NegatedMul>);
  k.set(Op::fma, lane, ternary_kernel<T, MultiplyAdd>);
  k.set(Op::fms, lane, ternary_kernel<T, MultiplySub>);
  k.set(Op::fnma, lane, ternary_kernel<T, SubMultiply>);
  k.set(Op::floordiv, lane, scalar_kernel<T, FloorDiv>);
  k.set(Op::mod, lane, scalar_kernel<T, Mod>);
}

}  // namespace

void fill_float(Kernels& k) {
  fill<float>(k, Lane::f32);
  fill<double>(k, Lane::f64);
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#define HORNGATE_FILL fill_float
#include "engines/native/fused/fill-inl.h"
#endif
