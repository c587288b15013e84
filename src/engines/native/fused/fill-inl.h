// Defines HORNGATE_FILL(Simd, Kernels&) outside the target namespaces: picks one of the versions
// that foreach_target.h made. Included once at the end of each ops_*.cpp; for a target that was not
// compiled (a build for one CPU) it picks the static one.
namespace horngate::native::fused {

void HORNGATE_FILL(Simd simd, Kernels& k) {
  switch (simd) {
    case Simd::avx512:
#if HWY_TARGETS & HWY_AVX3
      return N_AVX3::HORNGATE_FILL(k);
#else
      break;
#endif
    case Simd::avx2:
#if HWY_TARGETS & HWY_AVX2
      return N_AVX2::HORNGATE_FILL(k);
#else
      break;
#endif
    case Simd::sse4:
#if HWY_TARGETS & HWY_SSE4
      return N_SSE4::HORNGATE_FILL(k);
#else
      break;
#endif
    case Simd::scalar: break;
  }
  HWY_STATIC_DISPATCH(HORNGATE_FILL)(k);
}

}  // namespace horngate::native::fused
