// Fused groups: instructions of every dtype, iteration spaces, sharing of memory, programs,
// multi-groups.
#include <functional>

#include "fused_test_util.h"
#include "horngate/error.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::fused {
namespace {

constexpr DType kIntegers[] = {DType::int8,  DType::int16,  DType::int32,  DType::int64,
                               DType::uint8, DType::uint16, DType::uint32, DType::uint64};
constexpr Prim kComparisons[] = {Prim::eq, Prim::ne, Prim::lt, Prim::le, Prim::gt, Prim::ge};

// Sizes around the vector lengths, and beyond a block.
constexpr int64_t kSizes[] = {1, 3, 17, 64, 131, 5000};

template <class T>
bool compare(Prim prim, T a, T b) {
  switch (prim) {
    case Prim::eq: return a == b;
    case Prim::ne: return a != b;
    case Prim::lt: return a < b;
    case Prim::le: return a <= b;
    case Prim::gt: return a > b;
    default: return a >= b;
  }
}

/// What NumPy gives, computed in 128 bits and cut to T.
template <class T>
T integer_reference(Prim prim, T a, T b) {
  const __int128 x = a, y = b;
  const auto floor_div = [&] {
    const __int128 q = x / y;
    return x % y != 0 && (x % y < 0) != (y < 0) ? q - 1 : q;
  };
  switch (prim) {
    case Prim::neg: return static_cast<T>(-x);
    case Prim::abs: return static_cast<T>(x < 0 ? -x : x);
    case Prim::sign: return static_cast<T>((x > 0) - (x < 0));
    case Prim::add: return static_cast<T>(x + y);
    case Prim::sub: return static_cast<T>(x - y);
    case Prim::mul: return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
    case Prim::div: return y == 0 ? T(0) : static_cast<T>(x / y);
    case Prim::floordiv: return y == 0 ? T(0) : static_cast<T>(floor_div());
    case Prim::mod: return y == 0 ? T(0) : static_cast<T>(x - floor_div() * y);
    case Prim::maximum: return std::max(a, b);
    case Prim::minimum: return std::min(a, b);
    case Prim::pow: {
      if (y < 0) return x == 1 ? T(1) : x == -1 ? T(y % 2 ? -1 : 1) : T(0);
      uint64_t power = 1, base = static_cast<uint64_t>(x);
      for (__int128 n = y; n > 0; n /= 2, base *= base)
        if (n % 2) power *= base;
      return static_cast<T>(power);
    }
    default: return a;  // floor, round
  }
}

template <class T>
std::vector<T> integer_samples(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  const T special[] = {
      T(0), T(1), T(-1), T(2), T(3), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
      T(7), T(-7)};
  std::vector<T> x(n);
  for (T& v : x) {
    const uint64_t bits = random();
    v = bits % 3 ? special[bits / 3 % std::size(special)] : static_cast<T>(bits >> 20);
  }
  return x;
}

template <class T, class R>
void check_binary(Prim prim, DType dtype, const std::vector<T>& a, const std::vector<T>& b,
                  const std::function<R(T, T)>& reference) {
  for (int64_t n : kSizes) {
    ProgramBuilder builder;
    const Reg x = builder.input(dtype);
    builder.output(builder.op(prim, dtype, x, builder.input(dtype)));
    std::vector<R> out(static_cast<size_t>(n) + 1, R(77));
    run(*flat_group(builder.build(), n), {a.data(), b.data()}, {out.data()});
    for (size_t i = 0; i < static_cast<size_t>(n); ++i)
      ASSERT_TRUE(same<R>(out[i], reference(a[i], b[i])))
          << "primitive " << static_cast<int>(prim) << " of " << +a[i] << " and " << +b[i]
          << " gave " << +out[i] << " (" << name_of(dtype) << ")";
    ASSERT_EQ(out.back(), R(77)) << "written past the end";
  }
}

TEST(FusedOps, IntegersWrapAndDivideLikeNumPy) {
  constexpr Prim kPrims[] = {Prim::add, Prim::sub, Prim::mul,     Prim::div,    Prim::floordiv,
                             Prim::mod, Prim::pow, Prim::maximum, Prim::minimum};
  constexpr Prim kUnary[] = {Prim::neg, Prim::abs, Prim::sign, Prim::floor, Prim::round};
  for_each_simd([&] {
    for (DType dtype : kIntegers)
      with_dtype(dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          const auto a = integer_samples<T>(5000, 1), b = integer_samples<T>(5000, 2);
          for (Prim prim : kPrims)
            check_binary<T, T>(prim, dtype, a, b,
                               [=](T x, T y) { return integer_reference(prim, x, y); });
          for (Prim prim : kComparisons)
            check_binary<T, uint8_t>(prim, dtype, a, b,
                                     [=](T x, T y) { return compare(prim, x, y); });
          for (Prim prim : kUnary) {
            ProgramBuilder builder;
            builder.output(builder.op(prim, dtype, builder.input(dtype)));
            std::vector<T> out(a.size());
            run(*flat_group(builder.build(), 5000), {a.data()}, {out.data()});
            for (size_t i = 0; i < a.size(); ++i)
              ASSERT_EQ(out[i], integer_reference(prim, a[i], T(0))) << name_of(dtype);
          }
        }
      });
  });
}

template <class T>
void check_floats(DType dtype) {
  std::mt19937_64 random(5);
  const T special[] = {0,
                       T(-0.0),
                       1,
                       -1,
                       T(0.5),
                       T(1.5),
                       T(2.5),
                       T(-2.5),
                       INFINITY,
                       -INFINITY,
                       NAN,
                       T(1e-40),
                       std::numeric_limits<T>::max(),
                       7,
                       -3};
  std::vector<T> a(5000), b(5000);
  for (auto* x : {&a, &b})
    for (T& v : *x) {
      const uint64_t bits = random();
      v = bits % 3 ? static_cast<T>(static_cast<int64_t>(bits)) / T(1LL << 58)
                   : special[bits / 3 % std::size(special)];
    }
  const auto check = [&](Prim prim, const std::function<T(T, T)>& f) {
    check_binary<T, T>(prim, dtype, a, b, f);
  };
  check(Prim::add, [](T x, T y) { return x + y; });
  check(Prim::sub, [](T x, T y) { return x - y; });
  check(Prim::mul, [](T x, T y) { return x * y; });
  check(Prim::div, [](T x, T y) { return x / y; });
  check(Prim::maximum, [](T x, T y) { return x != x ? x : y != y ? y : std::max(x, y); });
  check(Prim::minimum, [](T x, T y) { return x != x ? x : y != y ? y : std::min(x, y); });
  const auto mod = [](T x, T y) {
    T r = std::fmod(x, y);
    if (r != 0 && (r < 0) != (y < 0)) r += y;
    return r;
  };
  check(Prim::mod, mod);
  check(Prim::floordiv, [](T x, T y) {
    if (y == 0) return x / y;
    const T r = std::fmod(x, y);
    const T q = std::nearbyint((x - r) / y);  // whole but for rounding
    return r != 0 && (r < 0) != (y < 0) ? q - 1 : q;
  });
  for (Prim prim : kComparisons)
    check_binary<T, uint8_t>(prim, dtype, a, b, [=](T x, T y) { return compare(prim, x, y); });
  const auto unary = [&](Prim prim, const std::function<T(T)>& f) {
    ProgramBuilder builder;
    builder.output(builder.op(prim, dtype, builder.input(dtype)));
    std::vector<T> out(a.size());
    run(*flat_group(builder.build(), 5000), {a.data()}, {out.data()});
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_TRUE(same(out[i], f(a[i]))) << a[i] << " " << out[i];
  };
  unary(Prim::neg, [](T x) { return -x; });
  unary(Prim::abs, [](T x) { return std::fabs(x); });
  unary(Prim::sign, [](T x) { return x != x ? x : T((x > 0) - (x < 0)); });
  unary(Prim::floor, [](T x) { return std::floor(x); });
  unary(Prim::round, [](T x) { return std::nearbyint(x); });
}

TEST(FusedOps, Floats) {
  for_each_simd([] {
    check_floats<float>(DType::float32);
    check_floats<double>(DType::float64);
  });
}

TEST(FusedOps, BoolsAndSelect) {
  for_each_simd([] {
    std::vector<uint8_t> a(200), b(200), out(200);
    for (size_t i = 0; i < a.size(); ++i) a[i] = i % 2, b[i] = i / 2 % 2;
    const std::pair<Prim, int (*)(int, int)> kPrims[] = {
        {Prim::add, [](int x, int y) { return x | y; }},
        {Prim::sub, [](int x, int y) { return x ^ y; }},
        {Prim::mul, [](int x, int y) { return x & y; }},
        {Prim::maximum, [](int x, int y) { return x | y; }},
        {Prim::minimum, [](int x, int y) { return x & y; }},
        {Prim::logical_and, [](int x, int y) { return x & y; }},
        {Prim::logical_or, [](int x, int y) { return x | y; }},
        {Prim::pow, [](int x, int y) { return int(x || !y); }},
        {Prim::eq, [](int x, int y) { return int(x == y); }},
        {Prim::ne, [](int x, int y) { return int(x != y); }},
        {Prim::lt, [](int x, int y) { return int(x < y); }},
        {Prim::le, [](int x, int y) { return int(x <= y); }},
        {Prim::gt, [](int x, int y) { return int(x > y); }},
        {Prim::ge, [](int x, int y) { return int(x >= y); }}};
    for (const auto& [prim, f] : kPrims) {
      ProgramBuilder builder;
      const Reg x = builder.input(DType::bool_);
      builder.output(builder.op(prim, DType::bool_, x, builder.input(DType::bool_)));
      run(*flat_group(builder.build(), 200), {a.data(), b.data()}, {out.data()});
      for (size_t i = 0; i < a.size(); ++i)
        ASSERT_EQ(out[i], f(a[i], b[i])) << static_cast<int>(prim) << " " << i;
    }
    for (int t = 0; t < kDTypeCount; ++t)
      with_dtype(static_cast<DType>(t), [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
          const DType dtype = static_cast<DType>(t);
          ProgramBuilder builder;
          const Reg c = builder.op(Prim::logical_not, DType::bool_, builder.input(DType::bool_));
          const Reg x = builder.input(dtype);
          builder.output(builder.op(Prim::select, dtype, c, x, builder.constant(5, dtype)));
          std::vector<T> values(200), picked(200);
          for (size_t i = 0; i < 200; ++i) values[i] = static_cast<T>(i);
          run(*flat_group(builder.build(), 200), {a.data(), values.data()}, {picked.data()});
          for (size_t i = 0; i < 200; ++i) ASSERT_EQ(picked[i], a[i] ? T(5) : values[i]);
        }
      });
  });
}

/// A finite double as an element of F.
template <class F>
F element(double v) {
  if constexpr (std::is_class_v<F>)
    return narrow<F>(static_cast<float>(v));
  else if constexpr (std::is_same_v<F, bool> || std::is_floating_point_v<F>)
    return static_cast<F>(v);
  else
    return static_cast<F>(static_cast<int64_t>(v));
}

/// An integer of unlimited size, if it fits the first one that floats become, else its least; then
/// modulo 2^bits.
template <class T, class F>
T cast_reference(F x) {
  const auto wide = widen(x);
  constexpr bool kFromFloat = std::is_floating_point_v<Wide<F>>;
  if constexpr (std::is_class_v<T>) {
    return narrow<T>(static_cast<float>(wide));
  } else if constexpr (std::is_same_v<T, bool>) {
    return wide != 0;
  } else if constexpr (kFromFloat && std::is_integral_v<T>) {
    constexpr bool kLong = sizeof(T) == 8 || std::is_same_v<T, uint32_t>;
    const double low = kLong ? -0x1p63 : -0x1p31, whole = std::trunc(static_cast<double>(wide));
    if (whole >= low && whole < -low) return static_cast<T>(static_cast<int64_t>(whole));
    if (std::is_same_v<T, uint64_t> && whole >= 0)
      return whole < 0x1p64 ? static_cast<T>(whole) : T(0);
    return static_cast<T>(kLong ? INT64_MIN : INT32_MIN);
  } else {
    return static_cast<T>(wide);
  }
}

template <class F, class T>
void check_cast(DType from, DType to) {
  constexpr double kValues[] = {0,     1,          -1,   2.7,           -2.7,         127.9,
                                128,   255,        256,  300,           -129,         30000,
                                65536, 2147483647, 1e10, -2147483648.0, 4294967295.0, -1e18};
  constexpr size_t kCount = std::size(kValues) * 4;
  F x[kCount];
  T out[kCount];
  for (size_t i = 0; i < kCount; ++i) x[i] = element<F>(kValues[i % std::size(kValues)]);
  ProgramBuilder builder;
  builder.output(builder.cast(builder.input(from), to));
  run(*flat_group(builder.build(), kCount), {x}, {out});
  for (size_t i = 0; i < kCount; ++i) {
    const T want = cast_reference<T>(x[i]);
    ASSERT_EQ(std::memcmp(&out[i], &want, sizeof want), 0)
        << name_of(from) << " to " << name_of(to) << " of " << static_cast<double>(widen(x[i]));
  }
}

TEST(FusedOps, Casts) {
  for_each_simd([&] {
    for (int from = 0; from < kDTypeCount; ++from)
      for (int to = 0; to < kDTypeCount; ++to)
        with_dtype(static_cast<DType>(from), [&](auto f) {
          with_dtype(static_cast<DType>(to), [&](auto t) {
            check_cast<decltype(f), decltype(t)>(static_cast<DType>(from), static_cast<DType>(to));
          });
        });
  });
}

TEST(FusedOps, FloatsToIntegersAtTheLimits) {
  const std::vector<double> x = {NAN, INFINITY, -INFINITY, 3e9, -3e9, 1e19, -1e19, 1e20};
  for_each_simd([&] {
    ProgramBuilder to_bool;
    to_bool.output(to_bool.cast(to_bool.input(DType::float64), DType::bool_));
    std::vector<uint8_t> truth(x.size());
    run(*flat_group(to_bool.build(), 8), {x.data()}, {truth.data()});
    EXPECT_EQ(truth, std::vector<uint8_t>(x.size(), 1));
    ProgramBuilder builder;
    const Reg r = builder.input(DType::float64);
    for (DType t : {DType::int32, DType::int64, DType::uint64}) builder.output(builder.cast(r, t));
    std::vector<int32_t> i32(x.size());
    std::vector<int64_t> i64(x.size());
    std::vector<uint64_t> u64(x.size());
    run(*flat_group(builder.build(), 8), {x.data()}, {i32.data(), i64.data(), u64.data()});
    const int64_t least = INT64_MIN;
    EXPECT_EQ(i32, std::vector<int32_t>(x.size(), INT32_MIN));
    EXPECT_EQ(i64, (std::vector<int64_t>{least, least, least, 3000000000, -3000000000, least, least,
                                         least}));
    EXPECT_EQ(u64[0], uint64_t{1} << 63);
    EXPECT_EQ(u64[1], 0u);
    EXPECT_EQ(u64[5], 10000000000000000000u);
    EXPECT_EQ(u64[7], 0u);
  });
}

// Every float16 and bfloat16 survives a load and a store; sums round to nearest even.
TEST(FusedOps, HalfTypes) {
  for_each_simd([] {
    for (DType dtype : {DType::float16, DType::bfloat16}) {
      std::vector<uint16_t> x(65536), copy(65536), sum(65536);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i);
      ProgramBuilder builder;
      const Reg r = builder.input(dtype);
      const Reg third = builder.constant(0.333, dtype);
      builder.output(builder.op(Prim::mul, dtype, r, builder.constant(1.0, dtype)));
      builder.output(builder.op(Prim::add, dtype, r, third));
      run(*flat_group(builder.build(), 65536), {x.data()}, {copy.data(), sum.data()});
      const bool half = dtype == DType::float16;
      const auto value = [&](uint16_t b) {
        return half ? to_float(float16_t{b}) : to_float(bfloat16_t{b});
      };
      const auto bits = [&](float f) { return half ? to_float16(f).bits : to_bfloat16(f).bits; };
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(value(x[i]))) {
          ASSERT_TRUE(std::isnan(value(copy[i])) && std::isnan(value(sum[i])));
          continue;
        }
        ASSERT_EQ(copy[i], x[i]);
        ASSERT_EQ(sum[i], bits(value(x[i]) + value(bits(0.333f)))) << value(x[i]);
      }
    }
  });
}

}  // namespace
}  // namespace horngate::native::fused
