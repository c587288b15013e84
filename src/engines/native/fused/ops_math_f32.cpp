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
#define MATH(op, loop, functor) k.set(Op::op, Lane::f32, loop##_kernel<float, functor>);
#define BLOCKS_ONLY(op, loop, functor) MATH(op, loop, functor)
#include "engines/native/fused/float_ops.def"
}

}  // namespace horngate::native::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#define HORNGATE_FILL fill_math_f32
#include "engines/native/fused/fill-inl.h"
#endif
