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
#define BASIC(op, loop, functor) k.set(Op::op, lane, loop##_kernel<T, functor>);
#include "engines/native/fused/float_ops.def"
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
