// Fused groups that reduce: all patterns of axes, all reductions, accuracy, threads.
#include "fused_random.h"

namespace horngate::native::fused {
namespace {

constexpr DType f32 = DType::float32;

double start_of(Prim reduction) {
  switch (reduction) {
    case Prim::reduce_max: return -1e9;
    case Prim::reduce_min: return 1e9;
    case Prim::reduce_all:
    case Prim::reduce_prod: return 1;
    default: return 0;
  }
}
double combine(Prim reduction, double a, double b) {
  switch (reduction) {
    case Prim::reduce_max: return std::max(a, b);
    case Prim::reduce_min: return std::min(a, b);
    case Prim::reduce_all: return a != 0 && b != 0;
    case Prim::reduce_any: return a != 0 || b != 0;
    default: return a + b;
  }
}

TEST(FusedReduce, RandomSpaces) {
  constexpr Prim kReductions[] = {Prim::reduce_sum, Prim::reduce_max, Prim::reduce_min,
                                  Prim::reduce_any, Prim::reduce_all};
  for (int seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<uint64_t>(seed) + 100000);
    const Case c(random);
    // Empty reductions and dtypes that such sums leave are tested below.
    if (std::count(c.extent.begin(), c.extent.end(), 0) || c.dtype == DType::float16 ||
        c.dtype == DType::int16 || c.dtype == DType::uint64)
      continue;
    ProgramBuilder builder;
    const std::vector<Reg> regs = c.build(builder);
    std::vector<bool> reduced(c.extent.size());
    for (size_t i = 0; i < reduced.size(); ++i) reduced[i] = random.chance(50);
    struct Wanted {
      size_t value;
      bool plain;
      Prim reduction;
    };
    std::vector<Wanted> wanted;
    std::vector<Array> out;
    std::vector<Access> accesses;
    for (int64_t i = random(1, 3); i > 0; --i) {
      const auto value = static_cast<size_t>(random(0, static_cast<int64_t>(c.values()) - 1));
      wanted.push_back({value, i > 1 && random.chance(30), kReductions[random(0, 4)]});
      const bool truth = wanted.back().reduction >= Prim::reduce_any;
      if (wanted.back().plain) {
        builder.output(regs[value]);
        out.emplace_back(random, c.dtype, c.extent, std::vector<bool>(c.extent.size(), false));
      } else {
        builder.reduce_output(regs[value], wanted.back().reduction);
        out.emplace_back(random, truth ? DType::bool_ : c.dtype, c.extent, reduced);
      }
      accesses.push_back(out.back().access);
    }
    std::vector<Array> expected = out;
    for_each_index(c.extent, [&](const Ints& index) {
      for (size_t o = 0; o < out.size(); ++o)
        if (!wanted[o].plain && out[o].dtype != DType::bool_)
          expected[o].set(expected[o].offset(index), start_of(wanted[o].reduction));
        else if (!wanted[o].plain)
          expected[o].set(expected[o].offset(index), wanted[o].reduction == Prim::reduce_all);
    });
    for_each_index(c.extent, [&](const Ints& index) {
      const std::vector<double> v = c.evaluate(index);
      for (size_t o = 0; o < out.size(); ++o) {
        const int64_t at = expected[o].offset(index);
        const double x = v[wanted[o].value];
        expected[o].set(at,
                        wanted[o].plain ? x : combine(wanted[o].reduction, expected[o].get(at), x));
      }
    });
    const Program program = builder.build();
    for_each_simd([&] {
      const auto group = Group::make(program, c.extent, c.in_accesses(), accesses, reduced);
      std::vector<Array> got = out;
      std::vector<void*> pointers;
      for (Array& a : got) pointers.push_back(a.bytes.data());
      run(*group, c.in_pointers(), pointers);
      for (size_t o = 0; o < got.size(); ++o) ASSERT_EQ(got[o].bytes, expected[o].bytes) << o;
    });
    if (HasFatalFailure()) return;
  }
}

/// Reduces x of the given extent over the marked axes to a contiguous array.
template <class T, class R = T>
std::vector<R> reduce(Prim reduction, DType dtype, const std::vector<T>& x, const Ints& extent,
                      std::vector<bool> axes) {
  ProgramBuilder b;
  b.reduce_output(b.input(dtype), reduction);
  Ints stride(extent.size(), 0);
  int64_t kept = 1;
  for (size_t i = extent.size(); i-- > 0;)
    if (!axes[i]) {
      stride[i] = kept;
      kept *= extent[i];
    }
  const auto group = Group::make(b.build(), extent, {{row_major(extent), 0}}, {{stride, 0}}, axes);
  std::vector<R> out(static_cast<size_t>(kept), R(99));
  run(*group, {x.data()}, {out.data()});
  return out;
}

// Sums of ten million float32 keep six digits, along every axis.
TEST(FusedReduce, SumsAreAccurate) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> x(10000000);
  for (float& v : x) v = uniform(random);
  const auto close = [](double got, double want) { return std::fabs(got - want) <= 1e-6 * want; };
  const auto check = [&](const Ints& extent, const std::vector<bool>& axes) {
    const std::vector<float> got = reduce(Prim::reduce_sum, f32, x, extent, axes);
    std::vector<double> want(got.size(), 0.0);
    size_t i = 0;
    for_each_index(extent, [&](const Ints& index) {
      size_t at = 0;
      for (size_t k = 0; k < axes.size(); ++k)
        if (!axes[k]) at = at * static_cast<size_t>(extent[k]) + static_cast<size_t>(index[k]);
      want[at] += x[i++];
    });
    for (size_t k = 0; k < got.size(); ++k)
      ASSERT_TRUE(close(got[k], want[k])) << got[k] << " " << want[k];
  };
  check({10000000}, {true});
  check({1000000, 10}, {true, false});
  check({10, 1000000}, {false, true});
  check({100000, 100}, {true, false});
  check({100000, 100}, {false, true});
  check({2500, 4000}, {true, false});
  check({100, 1000, 100}, {true, false, true});
  check({100, 1000, 100}, {false, true, false});
}

TEST(FusedReduce, ThreadsDoNotMatter) {
  std::vector<float> x(3000000);
  std::mt19937 random(2);
  for (float& v : x) v = static_cast<float>(random()) * 1e-9f - 2;
  const std::pair<Ints, std::vector<bool>> cases[] = {
      {{3000000}, {true}},           {{1000, 3000}, {true, false}},
      {{1000, 3000}, {false, true}}, {{300000, 10}, {true, false}},
      {{300000, 10}, {false, true}}, {{30, 1000, 100}, {true, false, true}}};
  for (const auto& [extent, axes] : cases) {
    set_thread_count(1);
    const std::vector<float> one = reduce(Prim::reduce_sum, f32, x, extent, axes);
    for (int threads : {2, 3, 8}) {
      set_thread_count(threads);
      EXPECT_EQ(one, reduce(Prim::reduce_sum, f32, x, extent, axes));
    }
    set_thread_count(0);
  }
}

TEST(FusedReduce, NaNPropagates) {
  for_each_simd([] {
    const std::pair<Ints, std::vector<bool>> cases[] = {{{4000}, {true}},
                                                        {{400, 10}, {true, false}},
                                                        {{400, 10}, {false, true}},
                                                        {{10, 400}, {true, false}},
                                                        {{10, 400}, {false, true}}};
    for (const auto& [extent, axes] : cases)
      for (size_t at : {0, 7, 1234, 3999}) {
        std::vector<float> x(4000, 1.0f);
        x[at] = NAN;
        for (Prim reduction :
             {Prim::reduce_max, Prim::reduce_min, Prim::reduce_sum, Prim::reduce_prod}) {
          const std::vector<float> got = reduce(reduction, f32, x, extent, axes);
          EXPECT_EQ(std::count_if(got.begin(), got.end(), [](float v) { return v != v; }), 1);
        }
      }
  });
}

TEST(FusedReduce, NothingToReduceGivesTheIdentity) {
  const float kInfinity = INFINITY;
  using Floats = std::vector<float>;
  EXPECT_EQ(reduce(Prim::reduce_sum, f32, Floats{}, {2, 0}, {false, true}), (Floats{0, 0}));
  EXPECT_EQ(reduce(Prim::reduce_prod, f32, Floats{}, {0, 2}, {true, false}), (Floats{1, 1}));
  EXPECT_EQ(reduce(Prim::reduce_max, f32, Floats{}, {0}, {true}), (Floats{-kInfinity}));
  EXPECT_EQ(reduce(Prim::reduce_min, f32, Floats{}, {0}, {true}), (Floats{kInfinity}));
  EXPECT_EQ(reduce(Prim::reduce_max, DType::int8, std::vector<int8_t>{}, {0}, {true}),
            (std::vector<int8_t>{-128}));
  EXPECT_EQ(reduce(Prim::reduce_min, DType::uint32, std::vector<uint32_t>{}, {0}, {true}),
            (std::vector<uint32_t>{UINT32_MAX}));
  EXPECT_EQ(reduce(Prim::reduce_max, DType::uint64, std::vector<uint64_t>{}, {0}, {true}),
            (std::vector<uint64_t>{0}));
  EXPECT_EQ((reduce<float, uint8_t>(Prim::reduce_all, f32, {}, {0}, {true})),
            (std::vector<uint8_t>{1}));
  EXPECT_EQ((reduce<float, uint8_t>(Prim::reduce_any, f32, {}, {0}, {true})),
            (std::vector<uint8_t>{0}));
  EXPECT_EQ(reduce(Prim::reduce_sum, f32, Floats{}, {0, 3}, {false, true}), Floats{});
}

// Sums and products wrap in their own dtype; of bool they are `any` and `all`.
TEST(FusedReduce, IntegersAndBools) {
  for_each_simd([] {
    std::vector<int8_t> x(1001);
    std::vector<uint32_t> y(1001);
    std::vector<uint8_t> t(1001, 1);
    int64_t sum = 0;
    uint64_t product = 1;
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<int8_t>(i * 37);
      y[i] = static_cast<uint32_t>(i * 2654435761u) | 1;
      sum += x[i];
      product *= y[i];
    }
    EXPECT_EQ(reduce(Prim::reduce_sum, DType::int8, x, {1001}, {true})[0],
              static_cast<int8_t>(sum));
    EXPECT_EQ(reduce(Prim::reduce_max, DType::int8, x, {1001}, {true})[0], 127);
    EXPECT_EQ(reduce(Prim::reduce_prod, DType::uint32, y, {1001}, {true})[0],
              static_cast<uint32_t>(product));
    EXPECT_EQ(reduce(Prim::reduce_sum, DType::bool_, t, {1001}, {true})[0], 1);
    EXPECT_EQ(reduce(Prim::reduce_prod, DType::bool_, t, {1001}, {true})[0], 1);
    t[500] = 0;
    EXPECT_EQ(reduce(Prim::reduce_prod, DType::bool_, t, {1001}, {true})[0], 0);
    EXPECT_EQ(reduce(Prim::reduce_min, DType::bool_, t, {7, 143}, {false, true}),
              (std::vector<uint8_t>{1, 1, 1, 0, 1, 1, 1}));
    // Half types add up in float32 and round once.
    std::vector<uint16_t> h(4096, to_float16(1.0f).bits);
    EXPECT_EQ(reduce(Prim::reduce_sum, DType::float16, h, {4096}, {true})[0],
              to_float16(4096.0f).bits);
    std::vector<uint64_t> u = {1, UINT64_MAX, 5};
    EXPECT_EQ(reduce(Prim::reduce_max, DType::uint64, u, {3}, {true})[0], UINT64_MAX);
    EXPECT_EQ(reduce(Prim::reduce_sum, DType::uint64, u, {3}, {true})[0], 5u);
  });
}

}  // namespace
}  // namespace horngate::native::fused
