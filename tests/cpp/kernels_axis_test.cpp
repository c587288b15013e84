// Kernels along an axis: running sums, positions, top_k, softmax; and the small ones.
#include <algorithm>

#include "kernel_testing.h"

namespace horngate::native::kernels {
KernelPtr make_iota(const KernelCall&);
KernelPtr make_cumsum(const KernelCall&);
KernelPtr make_cumprod(const KernelCall&);
KernelPtr make_argmax(const KernelCall&);
KernelPtr make_argmin(const KernelCall&);
KernelPtr make_concat(const KernelCall&);
KernelPtr make_top_k(const KernelCall&);
KernelPtr make_in_top_k(const KernelCall&);
KernelPtr make_print(const KernelCall&);
KernelPtr make_softmax(const KernelCall&);
KernelPtr make_log_softmax(const KernelCall&);
}  // namespace horngate::native::kernels

namespace horngate {
namespace {

using namespace kernel_testing;

TEST(Iota, Counts) {
  for (DType t : kNumbers) {
    for (int64_t n : {0, 1, 100}) {
      const Array y = run(kernels::make_iota, attrs::iota{.dtype = t, .shape = {n}}, {})[0];
      EXPECT_EQ(y.dtype(), t);
      std::vector<double> expected;
      for (int64_t i = 0; i < n; ++i) expected.push_back(static_cast<double>(i));
      expect_near(y, expected, 0);
    }
  }
}

/// Running sum or product of doubles.
std::vector<double> cumulated(const Array& x, int64_t axis, bool exclusive, bool reverse,
                              bool product) {
  const Ints dims = x.dims();
  const auto values = x.to_vector<double>();
  std::vector<double> out(values.size());
  const auto k = static_cast<size_t>(axis);
  for_each_index(dims, [&](const Ints& at) {
    double total = product ? 1 : 0;
    for (int64_t i = 0; i < dims[k]; ++i) {
      const bool before = reverse ? i > at[k] : i < at[k];
      if (!before && (exclusive || i != at[k])) continue;
      Ints from = at;
      from[k] = i;
      const double v = values[static_cast<size_t>(offset_of(dims, from))];
      total = product ? total * v : total + v;
    }
    out[static_cast<size_t>(offset_of(dims, at))] = total;
  });
  return out;
}

TEST(Cumulate, SumsAndProducts) {
  for (DType t : kNumbers) {
    for (int mode = 0; mode < 4; ++mode) {
      const bool exclusive = mode & 1, reverse = mode & 2;
      for (int64_t axis : {0, 1, 2}) {
        for (const Ints& dims : {Ints{4, 3, 5}, Ints{2, 6, 70}, Ints{2, 0, 3}}) {
          const Array x = random_array(t, dims, 0.6, 2.4);
          const Array sum =
              run(kernels::make_cumsum,
                  attrs::cumsum{.axis = axis, .exclusive = exclusive, .reverse = reverse}, {x})[0];
          const Array product = run(
              kernels::make_cumprod,
              attrs::cumprod{.axis = axis - 3, .exclusive = exclusive, .reverse = reverse}, {x})[0];
          // Seventy factors of 2 leave every integer type.
          const bool large = dims[static_cast<size_t>(axis)] > 6;
          const double tolerance = tolerance_of(t) * 4;
          if (t != DType::int8 || !large)
            expect_near(sum, cumulated(x, axis, exclusive, reverse, false), tolerance);
          if (!large) expect_near(product, cumulated(x, axis, exclusive, reverse, true), tolerance);
        }
      }
    }
  }
}

TEST(Cumulate, LongSumsKeepTheirDigits) {
  // 1,500 equal numbers in float lose two digits if they are added in float, the last sums most.
  for (const Ints& dims : {Ints{1500}, Ints{1500, 3}, Ints{6, 1500}}) {
    const int64_t axis = dims.size() == 2 && dims[1] == 1500 ? 1 : 0;
    const Array x = random_array(DType::float32, dims, 0.7, 0.7);
    const Array sum = run(kernels::make_cumsum, attrs::cumsum{.axis = axis}, {x})[0];
    const std::vector<double> wanted = cumulated(x, axis, false, false, false);
    for (size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(sum.data<float>()[i], wanted[i], wanted[i] * 6e-8) << i;
  }
}

TEST(Cumulate, InPlace) {
  Array x = Array::of({1.f, 2.f, 3.f, 4.f});
  const TensorType type(DType::float32, Shape{4});
  const AttrRef a(
      new AttrsOf<attrs::cumsum>(attrs::cumsum{.axis = 0, .exclusive = true, .reverse = true}));
  const KernelPtr kernel = kernels::make_cumsum(KernelCall{{&type, 1}, {&type, 1}, a.get(), {}});
  ASSERT_TRUE(kernel->can_alias(0, 0));
  const void* in[] = {x.raw()};
  void* out[] = {x.raw()};
  RunContext context;
  kernel->run(in, out, context);
  expect_near(x, {9, 7, 4, 0}, 0);
}

TEST(Extreme, PositionsLikeNumPy) {
  for (DType t : kNumbers) {
    for (int64_t axis : {0, 1, 2, -1}) {
      const auto k = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      for (const Ints& dims : {Ints{7, 3, 80}, Ints{2, 40, 1}, Ints{0, 2, 3}}) {
        if (dims[k] == 0) continue;
        const Array x = random_array(t, dims, 0, 9);  // integers have ties
        const auto values = x.to_vector<double>();
        Ints rest = dims;
        rest.erase(rest.begin() + static_cast<int64_t>(k));
        std::vector<double> largest, smallest;
        for_each_index(rest, [&](const Ints& at) {
          int64_t max = 0, min = 0;
          const auto value = [&](int64_t i) {
            Ints from = at;
            from.insert(from.begin() + static_cast<int64_t>(k), i);
            return values[static_cast<size_t>(offset_of(dims, from))];
          };
          for (int64_t i = 1; i < dims[k]; ++i) {
            if (value(i) > value(max)) max = i;
            if (value(i) < value(min)) min = i;
          }
          largest.push_back(static_cast<double>(max));
          smallest.push_back(static_cast<double>(min));
        });
        expect_near(run(kernels::make_argmax, attrs::argmax{.axis = axis}, {x})[0], largest, 0);
        expect_near(run(kernels::make_argmin, attrs::argmin{.axis = axis}, {x})[0], smallest, 0);
      }
    }
  }
}

TEST(Extreme, FirstNaNWins) {
  for (DType t : kFloats) {
    for (int64_t n : {5, 50}) {
      for (int64_t nan_at : {int64_t{0}, int64_t{3}, n - 1}) {
        Array x = random_array(DType::float64, {n}, -1, 1);
        x.data<double>()[1] = kInf;
        x.data<double>()[nan_at] = kNaN;
        x.data<double>()[n - 1] = kNaN;
        const double first = static_cast<double>(std::min(nan_at, n - 1));
        const Array row = x.cast(t), column = row.reshape({n, 1});
        expect_near(run(kernels::make_argmax, attrs::argmax{.axis = 0}, {row})[0], {first}, 0);
        expect_near(run(kernels::make_argmin, attrs::argmin{.axis = 0}, {row})[0], {first}, 0);
        const Array pair = run(kernels::make_concat, attrs::concat{.axis = 1}, {column, column})[0];
        expect_near(run(kernels::make_argmax, attrs::argmax{.axis = 0}, {pair})[0], {first, first},
                    0);
      }
    }
  }
}

TEST(TopK, SortedAndStable) {
  for (DType t : kNumbers) {
    for (int64_t k : {0, 1, 3, 40}) {
      const Array x = random_array(t, {3, 2, 40}, 0, 30);
      const Arrays y = run(kernels::make_top_k, attrs::top_k{.k = k}, {x});
      EXPECT_EQ(y[1].dtype(), DType::int32);
      const auto values = x.to_vector<double>();
      std::vector<double> best, at;
      for (int64_t row = 0; row < 6; ++row) {
        std::vector<int64_t> order(40);
        for (int64_t i = 0; i < 40; ++i) order[static_cast<size_t>(i)] = i;
        const double* v = values.data() + row * 40;
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return v[a] > v[b]; });
        for (int64_t i = 0; i < k; ++i) {
          at.push_back(static_cast<double>(order[static_cast<size_t>(i)]));
          best.push_back(v[order[static_cast<size_t>(i)]]);
        }
      }
      expect_near(y[0], best, 0);
      expect_near(y[1], at, 0);
    }
  }
}

TEST(TopK, NaNComesFirst) {
  const Array x = Array::of({1.0, kNaN, kInf, -kInf, kNaN, 2.0});
  const Arrays y = run(kernels::make_top_k, attrs::top_k{.k = 4}, {x});
  expect_near(y[0], {kNaN, kNaN, kInf, 2}, 0);
  expect_near(y[1], {1, 4, 2, 5}, 0);
}

TEST(InTopK, TiesCountAndBadRowsDoNot) {
  const std::vector<double> p = {0.1, 0.7,  0.2, 0.0,  //
                                 0.3, 0.3,  0.3, 0.1,  //
                                 0.1, 0.7,  0.2, 0.0,  //
                                 0.1, kNaN, 0.2, 0.0,  //
                                 0.1, kInf, 0.2, 0.0,  //
                                 0.1, 0.7,  0.2, 0.0,  //
                                 0.1, 0.7,  0.2, 0.0};
  const std::vector<int64_t> targets = {2, 2, 0, 0, 1, 4, -1};
  for (DType t : kFloats) {
    for (DType index : {DType::int32, DType::int64}) {
      const Array y = run(kernels::make_in_top_k, attrs::in_top_k{.k = 2},
                          {Array::of(p, {7, 4}).cast(t), indices_of(index, targets, {7})})[0];
      EXPECT_EQ(y.dtype(), DType::bool_);
      expect_near(y, {1, 1, 0, 0, 0, 0, 0}, 0);
    }
  }
}

TEST(Print, PassesAndLogs) {
  std::string line;
  RunContext context;
  context.host = &line;
  context.log = [](void* host, int, const char* text) { *static_cast<std::string*>(host) = text; };
  const Array x = Array::of({1.f, 2.f, 3.f});
  const Array y = run(kernels::make_print, attrs::print{.message = "x = "}, {x}, context)[0];
  expect_near(y, {1, 2, 3}, 0);
  EXPECT_EQ(line, "x = " + x.str());
  run(kernels::make_print, attrs::print{}, {Array(DType::float32, {0, 3})});
}

std::vector<double> softmax_of(const Array& x, int64_t axis, bool log) {
  const Ints dims = x.dims();
  const auto k = static_cast<size_t>(axis);
  const auto values = x.to_vector<double>();
  std::vector<double> out(values.size());
  for_each_index(dims, [&](const Ints& at) {
    Ints from = at;
    double max = -kInf, sum = 0;
    const auto value = [&](int64_t i) {
      from[k] = i;
      return values[static_cast<size_t>(offset_of(dims, from))];
    };
    for (int64_t i = 0; i < dims[k]; ++i) max = std::max(max, value(i));
    for (int64_t i = 0; i < dims[k]; ++i) sum += std::exp(value(i) - max);
    const double v = value(at[k]) - max;
    out[static_cast<size_t>(offset_of(dims, at))] = log ? v - std::log(sum) : std::exp(v) / sum;
  });
  return out;
}

TEST(Softmax, EveryAxisAndType) {
  for (DType t : kFloats) {
    for (const Ints& dims :
         {Ints{2, 3, 4}, Ints{3, 37, 67}, Ints{2, 1, 1}, Ints{0, 2, 3}, Ints{2, 0, 3}}) {
      for (int64_t axis : {0, 1, 2}) {
        const Array x = random_array(t, dims, -20, 20);
        const Array y = run(kernels::make_softmax, attrs::softmax{.axis = axis}, {x})[0];
        expect_near(y, softmax_of(x, axis, false), tolerance_of(t));
        const Array log =
            run(kernels::make_log_softmax, attrs::log_softmax{.axis = axis - 3}, {x})[0];
        expect_near(log, softmax_of(x, axis, true), tolerance_of(t));
      }
    }
  }
}

TEST(Softmax, LargeNumbersAndNaN) {
  for (const Ints& dims : {Ints{2, 5}, Ints{5, 2}}) {
    const int64_t axis = dims[0] == 2 ? 1 : 0;
    const int64_t step = axis == 1 ? 1 : 2, other = axis == 1 ? 5 : 1;
    Array x = Array::full(DType::float32, dims, 1e30);
    x.data<float>()[0] = -std::numeric_limits<float>::infinity();
    x.data<float>()[other] = std::numeric_limits<float>::quiet_NaN();
    const auto y =
        run(kernels::make_softmax, attrs::softmax{.axis = axis}, {x})[0].to_vector<double>();
    const auto log = run(kernels::make_log_softmax, attrs::log_softmax{.axis = axis}, {x})[0]
                         .to_vector<double>();
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(log[0], -kInf);
    for (int64_t i = 1; i < 5; ++i) {
      EXPECT_NEAR(y[static_cast<size_t>(i * step)], 0.25, 1e-7);
      EXPECT_NEAR(log[static_cast<size_t>(i * step)], -std::log(4.0), 1e-6);
    }
    for (int64_t i = 0; i < 5; ++i)
      EXPECT_TRUE(std::isnan(y[static_cast<size_t>(other + i * step)]));
  }
}

TEST(Softmax, SameOnAnyNumberOfThreads) {
  const Array x = random_array(DType::float32, {300, 1003}, -5, 5);
  for (int64_t axis : {0, 1}) {
    set_thread_count(1);
    const Array one = run(kernels::make_softmax, attrs::softmax{.axis = axis}, {x})[0];
    set_thread_count(4);
    const Array four = run(kernels::make_softmax, attrs::softmax{.axis = axis}, {x})[0];
    set_thread_count(0);
    EXPECT_EQ(std::memcmp(one.raw(), four.raw(), one.nbytes()), 0);
  }
}

}  // namespace
}  // namespace horngate
