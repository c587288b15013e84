// Tests on every instruction set that kernels are built for.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <string>

namespace horngate::testing {

/// Skipped where the machine does not have it.
class SimdTargets : public ::testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    if (!(hwy::SupportedTargets() & GetParam())) GTEST_SKIP() << "not on this CPU";
    use(GetParam());
  }
  void TearDown() override { use(0); }
  /// 0: the best of the machine.
  static void use(int64_t target) {
    hwy::GetChosenTarget().Update(target != 0 ? target : hwy::SupportedTargets());
  }
};

inline auto all_simd_targets() {
  return ::testing::Values(int64_t{HWY_SCALAR}, int64_t{HWY_SSE4}, int64_t{HWY_AVX2},
                           int64_t{HWY_AVX3});
}
inline std::string simd_target_name(const ::testing::TestParamInfo<int64_t>& info) {
  return hwy::TargetName(info.param);
}

}  // namespace horngate::testing
