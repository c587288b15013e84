// Our own float products on every instruction set that this CPU has, against sums in double.
#include "engines/native/kernels/gemm.h"
#include "engines/native/fused/targets.h"  // before Highway

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engines/native/late_library.h"
#include "gtest/gtest.h"
#include "horngate/error.h"
#include "horngate/log.h"
#include "hwy/highway.h"

namespace horngate::native {
namespace {

class GemmTargets : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    if (GetParam() != HWY_STATIC_TARGET && (hwy::SupportedTargets() & GetParam()) == 0)
      GTEST_SKIP() << "this CPU lacks " << hwy::TargetName(GetParam());
    hwy::GetChosenTarget().Update(GetParam());
  }
  void TearDown() override { hwy::GetChosenTarget().Update(hwy::SupportedTargets()); }
};

std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(seed >> 8) / 8388608.0f - 1;
  }
  return v;
}

struct Case {
  int64_t m, n, k;
  bool a_turned, b_turned, add;
};

/// Matrices lie in wider ones, and what is beside C must stay as it is.
void expect_product(const Case& t) {
  constexpr int64_t kBeside = 5;
  SCOPED_TRACE("m=" + std::to_string(t.m) + " n=" + std::to_string(t.n) +
               " k=" + std::to_string(t.k) + " a_turned=" + std::to_string(t.a_turned) +
               " b_turned=" + std::to_string(t.b_turned) + " add=" + std::to_string(t.add));
  const int64_t lda = (t.a_turned ? t.m : t.k) + kBeside, ldb = (t.b_turned ? t.k : t.n) + kBeside,
                ldc = t.n + kBeside;
  const std::vector<float> a = numbers(lda * (t.a_turned ? t.k : t.m), 1),
                           b = numbers(ldb * (t.b_turned ? t.n : t.k), 2),
                           before = numbers(ldc * t.m, 3);
  std::vector<float> c = before;
  const int64_t row = t.a_turned ? 1 : lda, column = t.a_turned ? lda : 1;
  run_gemm({t.m, t.n, t.k, a.data(), row, column, b.data(), ldb, t.b_turned, c.data(), ldc, t.add});
  for (int64_t i = 0; i < t.m; ++i)
    for (int64_t j = 0; j < ldc; ++j) {
      const size_t at = static_cast<size_t>(i * ldc + j);
      double sum = t.add || j >= t.n ? before[at] : 0;
      for (int64_t k = 0; j < t.n && k < t.k; ++k)
        sum += static_cast<double>(a[static_cast<size_t>(i * row + k * column)]) *
               b[static_cast<size_t>(t.b_turned ? j * ldb + k : k * ldb + j)];
      ASSERT_NEAR(c[at], sum, j < t.n ? 1e-6 * (10 + static_cast<double>(t.k)) : 0)
          << "row " << i << ", column " << j;
    }
}

TEST_P(GemmTargets, EverySizeOfTile) {
  for (const int64_t m : {1, 7, 8, 13, 24, 25})
    for (const int64_t n : {1, 10, 16, 33, 48, 50, 97})
      for (const int turn : {0, 1, 2, 3})
        expect_product({m, n, 19, (turn & 1) != 0, (turn & 2) != 0, turn == 1});
}

TEST_P(GemmTargets, SeveralBlocks) {
  for (const int turn : {0, 1, 2, 3})
    for (const bool add : {false, true})
      expect_product({200, 70, 600, (turn & 1) != 0, (turn & 2) != 0, add});
}

// A row of C has the same bits wherever a cut between tiles falls.
TEST_P(GemmTargets, CutsDoNotChangeBits) {
  const int64_t m = 67, n = 100, k = 700;
  const std::vector<float> a = numbers(m * k, 4), b = numbers(k * n, 5);
  std::vector<float> whole(static_cast<size_t>(m * n)), cut = whole;
  run_gemm({m, n, k, a.data(), k, 1, b.data(), n, false, whole.data(), n, false});
  for (const auto& [i, rows] : {std::pair<int64_t, int64_t>{0, 5}, {5, 40}, {45, 22}})
    for (const auto& [j, columns] : {std::pair<int64_t, int64_t>{0, 64}, {64, 36}})
      run_gemm({rows, columns, k, a.data() + i * k, k, 1, b.data() + j, n, false,
                cut.data() + i * n + j, n, false});
  EXPECT_EQ(whole, cut);
}

// One chain of additions would be off by 0.7.
TEST_P(GemmTargets, LongSumsKeepTheirDigits) {
  const int64_t m = 3, n = 40, k = 100000;
  const std::vector<float> a(static_cast<size_t>(m * k), 0.1f), b(static_cast<size_t>(k * n), 0.1f);
  std::vector<float> c(static_cast<size_t>(m * n), 1);
  run_gemm({m, n, k, a.data(), k, 1, b.data(), n, false, c.data(), n, true});
  for (const float x : c) ASSERT_NEAR(x, 1001, 0.02);
}

// What is multiplied is not looked at: NaN and infinity come through, also beside zeros.
TEST_P(GemmTargets, NanAndInfinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a = {0, 1, 0, 1}, b = {nan, 1, INFINITY, 2};
  std::vector<float> c(4);
  run_gemm({2, 2, 2, a.data(), 2, 1, b.data(), 2, false, c.data(), 2, false});
  EXPECT_TRUE(std::isnan(c[0]) && std::isnan(c[2]));
  EXPECT_EQ(c[1], 2);
  EXPECT_EQ(c[3], 2);
}

INSTANTIATE_TEST_SUITE_P(All, GemmTargets,
                         testing::Values(HWY_STATIC_TARGET, HWY_SSE4, HWY_AVX2, HWY_AVX3),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

TEST(Targets, AgreeWithTheCompiler) {
  const int64_t found = hwy::SupportedTargets();
  EXPECT_EQ((found & HWY_AVX2) != 0,
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_EQ((found & HWY_AVX3) != 0,
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"));
}

TEST(LateLibrary, SaysWhatIsMissing) {
  std::string said;
  set_log_handler([&](LogLevel, const std::string& text) { said += text; });
  const LateLibrary none("OpenMatrix", "libopenmatrix.so.9");
  set_log_handler({});
  EXPECT_FALSE(none.is_there());
  EXPECT_EQ(
      said,
      "OpenMatrix: there is no libopenmatrix.so.9 beside libhorngate.so; slower loops are used "
      "instead.");
  // An absolute path stands for a file beside the library: what is there must load.
  const std::filesystem::path torn = std::filesystem::path(testing::TempDir()) / "libtorn.so";
  std::ofstream(torn) << "torn";
  for (const auto& use :
       std::vector<std::function<void()>>{[&] { (void)none.function<void()>("product"); },
                                          [&] { LateLibrary("OpenMatrix", torn.c_str()); }}) {
    try {
      use();
      FAIL() << "used what is not there";
    } catch (const RuntimeError& e) {
      const std::string text = e.what();
      EXPECT_EQ(text.find("OpenMatrix: "), 0u) << text;
      EXPECT_TRUE(text.find("libopenmatrix.so.9") != text.npos ||
                  text.find("libtorn.so") != text.npos)
          << text;
    }
  }
  const LateLibrary math("math", "libm.so.6");
  EXPECT_TRUE(math.is_there());
  EXPECT_EQ(math.function<double(double)>("sqrt")(4), 2);
  EXPECT_THROW((void)math.function<void()>("no_such_function"), RuntimeError);
}

}  // namespace
}  // namespace horngate::native
