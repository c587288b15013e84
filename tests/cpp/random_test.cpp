// Random numbers: known answers of Philox, the laws, and what a number may depend on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "engines/native/kernels/random.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"
#include "simd_targets.h"

namespace horngate::native {
namespace kernels {
KernelPtr make_random_uniform(const KernelCall& call);
KernelPtr make_random_normal(const KernelCall& call);
KernelPtr make_random_truncated_normal(const KernelCall& call);
KernelPtr make_random_bernoulli(const KernelCall& call);
}  // namespace kernels

namespace {

using kernels::random::philox4x32;
using kernels::random::Words;

// n numbers; those past the end are checked to be untouched.
template <class T, class A>
std::vector<T> draw(KernelFactory make, A a, int64_t n, uint64_t number = 0, uint64_t step = 0) {
  const TensorType in(DType::uint64, {2}), out(dtype_v<T>, Shape(Ints(1, n)));
  const AttrRef attrs(new AttrsOf<A>(std::move(a)));
  KernelCall call;
  call.in = {&in, 1};
  call.out = {&out, 1};
  call.attrs = attrs.get();
  const KernelPtr kernel = make(call);
  const size_t bytes = static_cast<size_t>(n) * sizeof(T);
  std::vector<unsigned char> memory(bytes + 64 + 64, 0xa5);
  auto* data =
      reinterpret_cast<unsigned char*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~63ull);
  const uint64_t numbers[2] = {number, step};
  const void* ins[] = {numbers};
  void* outs[] = {data};
  RunContext context;
  kernel->run(ins, outs, context);
  EXPECT_TRUE(std::all_of(data + bytes, memory.data() + memory.size(),
                          [](unsigned char c) { return c == 0xa5; }));
  std::vector<T> result(static_cast<size_t>(n));
  if (bytes) std::memcpy(result.data(), data, bytes);
  return result;
}

template <class T>
std::vector<T> uniform(int64_t n, int64_t seed = 7, uint64_t number = 0, uint64_t step = 0) {
  return draw<T>(kernels::make_random_uniform,
                 attrs::random_uniform{.dtype = dtype_v<T>, .seed = seed}, n, number, step);
}
template <class T>
std::vector<T> normal(int64_t n, int64_t seed = 7, uint64_t number = 0, uint64_t step = 0) {
  return draw<T>(kernels::make_random_normal,
                 attrs::random_normal{.dtype = dtype_v<T>, .seed = seed}, n, number, step);
}
template <class T>
std::vector<T> truncated(int64_t n, int64_t seed = 7, uint64_t number = 0, uint64_t step = 0) {
  return draw<T>(kernels::make_random_truncated_normal,
                 attrs::random_truncated_normal{.dtype = dtype_v<T>, .seed = seed}, n, number,
                 step);
}
template <class T>
std::vector<T> bernoulli(int64_t n, double p, int64_t seed = 7) {
  return draw<T>(kernels::make_random_bernoulli,
                 attrs::random_bernoulli{.dtype = dtype_v<T>, .seed = seed, .p = p}, n);
}

template <class T>
std::vector<double> doubles(const std::vector<T>& v) {
  std::vector<double> out;
  for (const T x : v) out.push_back(static_cast<double>(widen(x)));
  return out;
}

// Mean of (x - center)^power.
template <class T>
double moment(const std::vector<T>& v, int power, double center = 0) {
  double sum = 0;
  for (const double x : doubles(v)) sum += std::pow(x - center, power);
  return sum / static_cast<double>(v.size());
}

// Largest distance to a distribution function, times sqrt(n): above 1.95 once in a thousand.
template <class T, class F>
double kolmogorov(const std::vector<T>& v, F cdf) {
  std::vector<double> x = doubles(v);
  std::sort(x.begin(), x.end());
  const double n = static_cast<double>(x.size());
  double distance = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double f = cdf(x[i]), k = static_cast<double>(i);
    distance = std::max({distance, f - k / n, (k + 1) / n - f});
  }
  return distance * std::sqrt(n);
}

double phi(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }
double phi2(double z) { return (phi(z) - phi(-2)) / (phi(2) - phi(-2)); }

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, ~0ull),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The order of words that kernels/random.h describes, for every instruction set of this machine.
class RandomTargets : public testing::SimdTargets {};

TEST_P(RandomTargets, BitsFollowTheReference) {
  const int64_t seed = 0x123456789abcdef0;
  const uint64_t number = 0xabcdef0123, step = 0xfedcba;
  const auto stream = kernels::random::stream_of(seed, number, step);
  EXPECT_EQ(stream.high, 0xfedcbaabcdef0123ull);
  for (const uint64_t first :
       {uint64_t{0}, uint64_t{0x1fffffff}}) {  // a carry into the second word
    constexpr int64_t kCount = 5;
    std::vector<uint32_t> words(32 * kCount);
    kernels::random::generate_bits(stream, first, kCount, words.data());
    for (uint32_t i = 0; i < words.size(); ++i) {
      const uint32_t in_group = i % 32, half = in_group / 16, block = in_group % 16 / 2;
      const uint64_t counter = (first + i / 32) * 8 + block;
      const Words w = philox4x32({static_cast<uint32_t>(counter),
                                  static_cast<uint32_t>(counter >> 32), 0xcdef0123, 0xfedcbaab},
                                 seed);
      ASSERT_EQ(words[i], w[2 * half + in_group % 2]) << i;
    }
  }
}

TEST_P(RandomTargets, SameBitsEverywhere) {
  constexpr int64_t n = 5000;
  const auto u32 = uniform<float>(n), n32 = normal<float>(n), t32 = truncated<float>(n);
  const auto u64 = uniform<double>(n), n64 = normal<double>(n), t64 = truncated<double>(n);
  const auto b = bernoulli<float>(n, 0.3);
  use(0);
  EXPECT_TRUE(same(u32, uniform<float>(n)) && same(u64, uniform<double>(n)));
  EXPECT_TRUE(same(n32, normal<float>(n)) && same(n64, normal<double>(n)));
  EXPECT_TRUE(same(t32, truncated<float>(n)) && same(t64, truncated<double>(n)));
  EXPECT_TRUE(same(b, bernoulli<float>(n, 0.3)));
}

INSTANTIATE_TEST_SUITE_P(All, RandomTargets, testing::all_simd_targets(),
                         testing::simd_target_name);

// The formulas in long double, from the bits.
TEST(Random, LawsFollowTheirFormulas) {
  const auto stream = kernels::random::stream_of(7, 0, 0);
  uint32_t words[32 * 64];
  kernels::random::generate_bits(stream, 0, 64, words);
  const auto u = uniform<float>(2048), z = normal<float>(2048), t = truncated<float>(2048);
  const long double turn = 2 * std::acos(-1.0L);
  for (int i = 0; i < 2048; ++i) {
    EXPECT_EQ(u[i], static_cast<float>(words[i] >> 8) * 0x1p-24f);
    const int a = i / 32 * 32 + i % 16;
    const long double radius = std::sqrt(-2 * std::log(((words[a] >> 1) + 1) * 0x1p-31L));
    const long double angle = turn * words[a + 16] * 0x1p-32L;
    const long double expected = radius * (i % 32 < 16 ? std::cos(angle) : std::sin(angle));
    EXPECT_NEAR(z[i], static_cast<double>(expected), 1e-6);
    const double x = 2 * (words[i] >> 8) * 0x1p-24 - 1 + 0x1p-24;
    EXPECT_NEAR(phi(t[i]) - 0.5, x * (phi(2) - 0.5), 1e-7);
  }
}

TEST(Random, DoubleLawsFollowTheirFormulas) {
  uint64_t words[16 * 64];
  kernels::random::generate(kernels::random::Law::bits, kernels::random::stream_of(7, 0, 0), 0, 64,
                            reinterpret_cast<double*>(words));
  const auto u = uniform<double>(1024), z = normal<double>(1024), t = truncated<double>(1024);
  const long double turn = 2 * std::acos(-1.0L);
  for (int i = 0; i < 1024; ++i) {
    EXPECT_EQ(u[i], static_cast<double>(words[i] >> 11) * 0x1p-53);
    const int a = i / 16 * 16 + i % 8;
    const long double radius = std::sqrt(-2 * std::log(((words[a] >> 2) + 1) * 0x1p-62L));
    const long double angle = turn * words[a + 8] * 0x1p-64L;
    const long double expected = radius * (i % 16 < 8 ? std::cos(angle) : std::sin(angle));
    EXPECT_NEAR(z[i], static_cast<double>(expected), 4e-15);
    const double x = 2 * u[i] - 1 + 0x1p-53;
    EXPECT_NEAR(phi(t[i]) - 0.5, x * (phi(2) - 0.5), 2e-15);
  }
}

template <class T>
class RandomLaw : public ::testing::Test {};
using Floats = ::testing::Types<float, double, float16_t, bfloat16_t>;
TYPED_TEST_SUITE(RandomLaw, Floats);

TYPED_TEST(RandomLaw, Moments) {
  using T = TypeParam;
  constexpr int64_t n = 1 << 20;
  const double sigma = 5 / std::sqrt(static_cast<double>(n));
  const double coarse = dtype_v<T> == DType::bfloat16 ? 1e-3 : 0;  // rounding is not symmetric at 1
  const auto u = uniform<T>(n);
  EXPECT_NEAR(moment(u, 1), 0.5, 0.289 * sigma + coarse);
  EXPECT_NEAR(moment(u, 2, 0.5), 1 / 12.0, 0.075 * sigma + coarse);
  const auto z = normal<T>(n);
  EXPECT_NEAR(moment(z, 1), 0, sigma);
  EXPECT_NEAR(moment(z, 2), 1, 1.42 * sigma + coarse);
  EXPECT_NEAR(moment(z, 3), 0, 3.9 * sigma + coarse);
  EXPECT_NEAR(moment(z, 4), 3, 9.8 * sigma + coarse);
  const auto t = truncated<T>(n);
  EXPECT_NEAR(moment(t, 1), 0, sigma);
  EXPECT_NEAR(moment(t, 2), 0.7737413, sigma + coarse);
}

TYPED_TEST(RandomLaw, Bounds) {
  using T = TypeParam;
  constexpr int64_t n = 1 << 20;
  for (const double u : doubles(uniform<T>(n))) ASSERT_TRUE(u >= 0 && u < 1) << u;
  for (const double t : doubles(truncated<T>(n))) ASSERT_LE(std::abs(t), 2.0);
  const auto z = doubles(normal<T>(n));
  const double largest = *std::max_element(z.begin(), z.end());
  EXPECT_TRUE(largest > 4 && largest < 7) << largest;
}

TYPED_TEST(RandomLaw, Distribution) {
  using T = TypeParam;
  if (sizeof(T) == 2) return;  // its steps are far larger than the bound
  constexpr int64_t n = 1 << 20;
  for (const int64_t seed : {0, 1, -1}) {
    EXPECT_LT(kolmogorov(uniform<T>(n, seed), [](double x) { return x; }), 1.95) << seed;
    EXPECT_LT(kolmogorov(normal<T>(n, seed), phi), 1.95) << seed;
    EXPECT_LT(kolmogorov(truncated<T>(n, seed), phi2), 1.95) << seed;
  }
}

TEST(Random, NeighboursAreIndependent) {
  constexpr int64_t n = 1 << 20;
  const auto z = normal<float>(n);
  for (const int64_t lag : {1, 2, 4, 8, 16, 32}) {
    double sum = 0;
    for (int64_t i = 0; i + lag < n; ++i) sum += z[i] * z[i + lag];
    EXPECT_LT(std::abs(sum / n), 5 / std::sqrt(static_cast<double>(n))) << lag;
  }
}

TEST(Random, BernoulliCounts) {
  constexpr int64_t n = 1 << 20;
  for (const double p : {0.001, 0.3, 0.5, 0.9}) {
    const double deviation = 5 * std::sqrt(p * (1 - p) / n);
    EXPECT_NEAR(moment(bernoulli<float>(n, p), 1), p, deviation);
  }
  EXPECT_EQ(moment(bernoulli<float>(1000, 0.0), 1), 0);
  EXPECT_EQ(moment(bernoulli<float>(1000, 1.0), 1), 1);
}

TEST(Random, BernoulliIsTheSameInEveryDtype) {
  const auto expected = doubles(bernoulli<float>(1001, 0.4));
  EXPECT_EQ(doubles(bernoulli<double>(1001, 0.4)), expected);
  EXPECT_EQ(doubles(bernoulli<float16_t>(1001, 0.4)), expected);
  EXPECT_EQ(doubles(bernoulli<bfloat16_t>(1001, 0.4)), expected);
  EXPECT_EQ(doubles(bernoulli<int8_t>(1001, 0.4)), expected);
  EXPECT_EQ(doubles(bernoulli<int64_t>(1001, 0.4)), expected);
  EXPECT_EQ(doubles(bernoulli<uint16_t>(1001, 0.4)), expected);
  const auto unit = bernoulli<uint8_t>(1001, 0.4);  // the bytes of bool
  EXPECT_EQ(doubles(unit), expected);
}

// A shorter draw is the beginning of a longer one.
TEST(Random, Prefix) {
  const auto u = uniform<float>(3000), z = normal<float>(3000);
  const auto d = normal<double>(3000);
  const auto h = uniform<float16_t>(3000);
  const auto b = bernoulli<int32_t>(3000, 0.5);
  for (const int64_t n : {0, 1, 15, 16, 17, 31, 32, 33, 63, 65, 1000, 1024, 2999}) {
    const auto head = [n](auto v) { return v.resize(static_cast<size_t>(n)), v; };
    EXPECT_TRUE(same(uniform<float>(n), head(u)) && same(normal<float>(n), head(z))) << n;
    EXPECT_TRUE(same(normal<double>(n), head(d)) && same(uniform<float16_t>(n), head(h))) << n;
    EXPECT_TRUE(same(bernoulli<int32_t>(n, 0.5), head(b))) << n;
  }
}

TEST(Random, ThreadsDoNotMatter) {
  constexpr int64_t n = 300'001;
  set_thread_count(1);
  const auto u = uniform<float>(n);
  const auto z = normal<double>(n);
  const auto h = truncated<bfloat16_t>(n);
  const auto b = bernoulli<float>(n, 0.5);
  for (const int threads : {2, 3, 5}) {
    set_thread_count(threads);
    EXPECT_TRUE(same(u, uniform<float>(n)) && same(z, normal<double>(n)));
    EXPECT_TRUE(same(h, truncated<bfloat16_t>(n)) && same(b, bernoulli<float>(n, 0.5)));
  }
  set_thread_count(0);
}

TEST(Random, SeedDrawAndStepMatter) {
  const auto base = uniform<float>(100, 1, 0, 0);
  EXPECT_TRUE(same(base, uniform<float>(100, 1, 0, 0)));
  std::vector<std::vector<float>> others = {base};
  for (const int64_t seed : {0, 2, -1}) others.push_back(uniform<float>(100, seed, 0, 0));
  for (const uint64_t number : {1, 2, 1000}) others.push_back(uniform<float>(100, 1, number, 0));
  for (const uint64_t step : {1, 2, 1000}) others.push_back(uniform<float>(100, 1, 0, step));
  others.push_back(uniform<float>(100, 1, 1, 1));
  others.push_back(uniform<float>(100, 1, (1ull << 40) - 1, 0));
  others.push_back(uniform<float>(100, 1, 0, (1ull << 24) - 1));
  for (size_t i = 0; i < others.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      for (size_t k = 0; k < 100; ++k) ASSERT_NE(others[i][k], others[j][k]) << i << " " << j;
}

Types infer(Prim prim, const std::vector<TensorType>& in, const AttrRef& attrs) {
  return primitive(prim).infer({in, {}}, attrs.get());
}

TEST(RandomRules, Infer) {
  const TensorType draw(DType::uint64, {2}), shape(DType::int64, {2});
  const auto uniform = [](DType t, Ints dims) {
    return AttrRef(new AttrsOf<attrs::random_uniform>({.dtype = t, .shape = std::move(dims)}));
  };
  EXPECT_EQ(infer(Prim::random_uniform, {draw}, uniform(DType::float16, {2, 0}))[0],
            TensorType(DType::float16, {2, 0}));
  EXPECT_EQ(
      infer(Prim::random_uniform, {draw, shape}, uniform(DType::float32, {kFromOperand, 3}))[0],
      TensorType(DType::float32, {None, 3}));
  EXPECT_THROW(infer(Prim::random_uniform, {draw}, uniform(DType::int32, {2})), TypeError);
  EXPECT_THROW(infer(Prim::random_uniform, {shape}, uniform(DType::float32, {2})), ValueError);
  try {
    infer(Prim::random_uniform, {draw}, uniform(DType::float32, {2, -3}));
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(), "random_uniform: shape must not be negative; got (2, -3).");
  }
  try {
    infer(Prim::random_bernoulli, {draw},
          AttrRef(new AttrsOf<attrs::random_bernoulli>({.p = 1.5})));
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(), "random_bernoulli: p must be in [0, 1]; got 1.5.");
  }
  for (const Prim p : {Prim::random_uniform, Prim::random_normal, Prim::random_truncated_normal,
                       Prim::random_bernoulli})
    EXPECT_EQ(primitive(p).flags, uint32_t{kRandom | kNoGradient});
}

}  // namespace
}  // namespace horngate::native
