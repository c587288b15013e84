// Accuracy of the vector math, on every instruction set.
#include "fused_test_util.h"

namespace horngate::native::fused {
namespace {

long double sigmoid(long double x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }
long double rsqrt(long double x) { return 1 / sqrtl(x); }

struct Function {
  Prim prim;
  const char* name;
  long double (*reference)(long double);
  double bound;
};
constexpr Function kFunctions[] = {
    {Prim::exp, "exp", expl, 2},        {Prim::log, "log", logl, 2},
    {Prim::expm1, "expm1", expm1l, 4},  {Prim::log1p, "log1p", log1pl, 4},
    {Prim::tanh, "tanh", tanhl, 4},     {Prim::sigmoid, "sigmoid", sigmoid, 4},
    {Prim::erf, "erf", erfl, 4},        {Prim::sin, "sin", sinl, 4},
    {Prim::cos, "cos", cosl, 4},        {Prim::sqrt, "sqrt", sqrtl, 0.5},
    {Prim::rsqrt, "rsqrt", rsqrt, 1.5},
};

const std::vector<double> kSpecial = {
    0.0,    -0.0,   INFINITY, -INFINITY, NAN,   1.0,    -1.0,     5e-324, -5e-324, 1e-45,
    -1e-45, 1e-40,  1e-310,   88.72,     88.73, -87.34, -103.9,   -104.0, 709.78,  709.79,
    -745.1, -745.2, 3.4e38,   1.79e308,  0.5,   2.0,    -0.5,     1e-300, 1e300,   -3.4e38,
    22.0,   -22.0,  3.92,     5.93,      1e-5,  -1e-5,  16777216, 1e22,   1e15,    -17.0};

template <class T>
std::vector<T> samples(size_t per_range) {
  std::mt19937_64 random(7);
  std::vector<T> x(kSpecial.begin(), kSpecial.end());
  for (size_t i = 0; i < per_range; ++i) {  // every exponent
    const uint64_t bits = random();
    T v;
    std::memcpy(&v, &bits, sizeof v);
    x.push_back(v);
  }
  const double ranges[][2] = {{-1, 1},  {-10, 10},     {-110, 95},  {-760, 720},
                              {0.5, 2}, {-1e-3, 1e-3}, {-3e4, 3e4}, {-1e9, 1e9}};
  for (const auto& range : ranges) {
    std::uniform_real_distribution<double> uniform(range[0], range[1]);
    for (size_t i = 0; i < per_range; ++i) x.push_back(static_cast<T>(uniform(random)));
  }
  // Where the reduction of sin and cos cancels most.
  for (int k = 1; k < 3000; ++k) {
    const T near = static_cast<T>(k * 1.5707963267948966);
    x.insert(x.end(), {near, std::nextafter(near, T(0)), std::nextafter(near, T(1e9))});
  }
  return x;
}

template <class T>
std::vector<T> apply(Prim prim, DType dtype, const std::vector<T>& x,
                     const std::vector<T>* y = nullptr) {
  ProgramBuilder b;
  const Reg a = b.input(dtype);
  b.output(b.op(prim, dtype, a, y ? b.input(dtype) : kNone));
  std::vector<T> out(x.size());
  std::vector<const void*> in = {x.data()};
  if (y) in.push_back(y->data());
  run(*flat_group(b.build(), static_cast<int64_t>(x.size())), in, {out.data()});
  return out;
}

template <class T>
void check_unary(DType dtype) {
  const std::vector<T> x = samples<T>(30000);
  std::vector<std::vector<long double>> want;
  for (const Function& f : kFunctions) {
    want.emplace_back();
    for (T v : x) want.back().push_back(f.reference(v));
  }
  for_each_simd([&] {
    for (size_t k = 0; k < std::size(kFunctions); ++k) {
      const Function& f = kFunctions[k];
      const std::vector<T> got = apply(f.prim, dtype, x);
      double worst = 0;
      size_t at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        if (const double error = ulps(got[i], want[k][i]); error > worst) worst = error, at = i;
        if (want[k][i] == 0) {
          EXPECT_EQ(std::signbit(got[i]), std::signbit(want[k][i])) << f.name << x[i];
        }
      }
      EXPECT_LE(worst, f.bound) << f.name << " of " << x[at] << " gave " << got[at];
    }
  });
}

TEST(FusedMath, Float32) { check_unary<float>(DType::float32); }
TEST(FusedMath, Float64) { check_unary<double>(DType::float64); }

template <class T>
void check_pow(DType dtype) {
  std::mt19937_64 random(3);
  const auto uniform = [&](double lo, double hi) {
    return std::uniform_real_distribution<double>(lo, hi)(random);
  };
  std::vector<T> x, y;
  const auto add = [&](double a, double b) {
    x.push_back(static_cast<T>(a));
    y.push_back(static_cast<T>(b));
  };
  for (int i = 0; i < 20000; ++i) {
    add(uniform(0, 4), uniform(-20, 20));
    add(uniform(0.9, 1.1), uniform(-900, 900));
    add(std::exp(uniform(-85, 85)), uniform(-3, 3));
    add(uniform(-50, 50), std::round(uniform(-12, 12)));
  }
  const double exponents[] = {0.0,
                              -0.0,
                              1.0,
                              -1.0,
                              2.0,
                              -2.0,
                              3.0,
                              -3.0,
                              0.5,
                              -0.5,
                              INFINITY,
                              -INFINITY,
                              NAN,
                              1e10,
                              -1e10,
                              1e300,
                              1e-300,
                              5e-324,
                              16777217,
                              9007199254740991,
                              4503599627370497,
                              8388609};
  for (double a : kSpecial)
    for (double b : exponents) add(a, b);
  for_each_simd([&] {
    const std::vector<T> got = apply(Prim::pow, dtype, x, &y);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double want = powl(x[i], y[i]);
      ASSERT_LE(ulps(got[i], want), 4) << x[i] << " to the " << y[i] << " gave " << got[i];
      if (want == want) {
        ASSERT_EQ(std::signbit(got[i]), std::signbit(want)) << x[i] << " to the " << y[i];
      }
    }
  });
}

TEST(FusedMath, PowFloat32) { check_pow<float>(DType::float32); }
TEST(FusedMath, PowFloat64) { check_pow<double>(DType::float64); }

// sigmoid(a) * tanh(b) is one instruction; it may have the error of both.
// An element's value must depend neither on its place nor on the extent.
TEST(FusedMath, TailsEqualTheBody) {
  for_each_simd([&] {
    for (const Function& f : kFunctions) {
      std::vector<float> x(300);
      for (size_t i = 0; i < x.size(); ++i) x[i] = 0.037f * static_cast<float>(i) + 0.01f;
      const std::vector<float> whole = apply(f.prim, DType::float32, x);
      for (size_t first : {0, 1, 5, 64, 100})
        for (size_t n = 1; n < 70; ++n) {
          const std::vector<float> part(x.begin() + static_cast<long>(first),
                                        x.begin() + static_cast<long>(first + n));
          const std::vector<float> got = apply(f.prim, DType::float32, part);
          for (size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], whole[first + i]);
        }
    }
  });
}

}  // namespace
}  // namespace horngate::native::fused
