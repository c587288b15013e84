// Kernels that move and index data, against loops over multi-indices.
#include "kernel_testing.h"

namespace horngate::native::kernels {
KernelPtr make_transpose(const KernelCall&);
KernelPtr make_concat(const KernelCall&);
KernelPtr make_slice(const KernelCall&);
KernelPtr make_pad(const KernelCall&);
KernelPtr make_reverse(const KernelCall&);
KernelPtr make_gather(const KernelCall&);
KernelPtr make_scatter_add(const KernelCall&);
}  // namespace horngate::native::kernels

namespace horngate {
namespace {

using namespace kernel_testing;

Ints axis_order(Ints v) { return v; }

TEST(Transpose, EveryElementMoves) {
  struct Case {
    Ints dims, perm;
  };
  const std::vector<Case> cases = {
      {{}, {}},
      {{5}, {0}},
      {{3, 4}, {1, 0}},
      {{70, 33}, {1, 0}},
      {{64, 64}, {1, 0}},
      {{2, 3, 50}, {0, 2, 1}},
      {{2, 50, 3}, {0, 2, 1}},
      {{2, 2, 50}, {2, 1, 0}},
      {{4, 130, 4}, {2, 1, 0}},
      {{2, 3, 4, 5}, {3, 2, 1, 0}},
      {{2, 7, 9, 2}, {0, 2, 1, 3}},
      {{2, 7, 9, 4}, {2, 0, 1, 3}},
      {{2, 7, 9, 40}, {2, 0, 1, 3}},
      {{2, 17, 5, 6}, {0, 2, 3, 1}},
      {{3, 1, 1, 20, 18}, {4, 2, 0, 1, 3}},
      {{0, 4, 3}, {2, 0, 1}},
      {{0, 2, 5}, {0, 2, 1}},
      {{3, 4, 0}, {1, 2, 0}},
      {{2, 1, 3, 1, 2, 1, 2, 2}, {7, 6, 0, 1, 2, 5, 4, 3}},
  };
  for (DType t : {DType::uint8, DType::float16, DType::float32, DType::float64, DType::bool_}) {
    for (const Case& c : cases) {
      const Array x = counted(t, c.dims);
      const Array y = run(kernels::make_transpose, attrs::transpose{.perm = c.perm}, {x})[0];
      expect_moved(x, y, [&](const Ints& at) {
        Ints from(at.size(), 0);
        for (size_t i = 0; i < at.size(); ++i) from[static_cast<size_t>(c.perm[i])] = at[i];
        return from;
      });
    }
  }
}

TEST(Transpose, LargeResultsAreStreamed) {
  const int64_t rows = 2100, columns = 2044;
  const Array x = counted(DType::int32, {rows, columns});
  for (int threads : {1, 4}) {
    set_thread_count(threads);
    const Array y = run(kernels::make_transpose, attrs::transpose{.perm = {1, 0}}, {x})[0];
    const int32_t *a = x.data<int32_t>(), *b = y.data<int32_t>();
    int64_t wrong = 0;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) wrong += a[i * columns + j] != b[j * rows + i];
    EXPECT_EQ(wrong, 0);
  }
  set_thread_count(0);
}

TEST(Concat, OperandsFollowEachOther) {
  for (DType t : {DType::uint8, DType::float16, DType::float32, DType::int64}) {
    for (int64_t axis : {0, 1, 2, -1, -2}) {
      const int64_t at_axis = axis < 0 ? axis + 3 : axis;
      Arrays xs;
      for (int64_t n : {3, 0, 1, 20}) {
        Ints dims{2, 5, 4};
        dims[static_cast<size_t>(at_axis)] = n;
        xs.push_back(counted(t, dims));
      }
      const Array y = run(kernels::make_concat, attrs::concat{.axis = axis}, xs)[0];
      int64_t before = 0;
      for (const Array& x : xs) {
        for_each_index(x.dims(), [&](const Ints& at) {
          Ints to = at;
          to[static_cast<size_t>(at_axis)] += before;
          EXPECT_EQ(element(y, offset_of(y.dims(), to)), element(x, offset_of(x.dims(), at)));
        });
        before += x.dims()[static_cast<size_t>(at_axis)];
      }
    }
  }
}

TEST(Slice, StartsStopsAndSteps) {
  struct Case {
    Ints dims, starts, stops, steps;
    std::vector<std::vector<int64_t>> expected;  // positions per axis
  };
  const std::vector<Case> cases = {
      {{4, 6}, {1, 0}, {3, kToEnd}, {}, {{1, 2}, {0, 1, 2, 3, 4, 5}}},
      {{4, 6}, {-2, -100}, {kToEnd, -1}, {1, 2}, {{2, 3}, {0, 2, 4}}},
      {{4, 6}, {-1, 4}, {kToEnd, 0}, {-1, -2}, {{3, 2, 1, 0}, {4, 2}}},
      {{4, 6}, {kToEnd, kToEnd}, {-3, kToEnd}, {-1, -4}, {{3, 2}, {5, 1}}},
      {{4, 6}, {3, 0}, {1, kToEnd}, {1, 1}, {{}, {0, 1, 2, 3, 4, 5}}},
      {{4, 6}, {9, 0}, {12, 1}, {1, 1}, {{}, {0}}},
      {{4, 6}, {1, 2}, {kToEnd, kToEnd}, {INT64_MAX, -INT64_MAX}, {{1}, {2}}},
      {{0, 2}, {0, 0}, {kToEnd, 1}, {1, 1}, {{}, {0}}},
      {{3, 2, 2}, {0, 1, 0}, {3, 2, 2}, {2, 1, 1}, {{0, 2}, {1}, {0, 1}}},
      {{}, {}, {}, {}, {}},
  };
  for (DType t : {DType::bool_, DType::bfloat16, DType::int32, DType::float64}) {
    for (const Case& c : cases) {
      const Array x = counted(t, c.dims);
      const attrs::slice a{.starts = c.starts, .stops = c.stops, .steps = c.steps};
      const Array y = run(kernels::make_slice, a, {x})[0];
      for (size_t i = 0; i < c.dims.size(); ++i)
        ASSERT_EQ(y.dims()[i], static_cast<int64_t>(c.expected[i].size()));
      expect_moved(x, y, [&](const Ints& at) {
        Ints from = at;
        for (size_t i = 0; i < at.size(); ++i) from[i] = c.expected[i][static_cast<size_t>(at[i])];
        return from;
      });
    }
  }
}

TEST(Slice, LongRowsAreShared) {
  set_thread_count(4);
  const Array x = counted(DType::float32, {2, 300000});
  const Array y =
      run(kernels::make_slice,
          attrs::slice{.starts = {0, 3}, .stops = {kToEnd, -2}, .steps = {1, 1}}, {x})[0];
  expect_moved(x, y, [](const Ints& at) { return Ints{at[0], at[1] + 3}; });
  set_thread_count(0);
}

TEST(Reverse, Axes) {
  for (DType t : {DType::uint8, DType::float16, DType::float32, DType::float64}) {
    for (const Ints& axes : {axis_order({}), axis_order({0}), axis_order({1}), axis_order({-1}),
                             axis_order({0, 2}), axis_order({0, 1, 2})}) {
      for (const Ints& dims : {Ints{3, 4, 5}, Ints{1, 1, 7}, Ints{2, 0, 3}}) {
        const Array x = counted(t, dims);
        const Array y = run(kernels::make_reverse, attrs::reverse{.axes = axes}, {x})[0];
        expect_moved(x, y, [&](const Ints& at) {
          Ints from = at;
          for (int64_t axis : axes) {
            const auto k = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
            from[k] = dims[k] - 1 - at[k];
          }
          return from;
        });
      }
    }
  }
}

TEST(Pad, MarginsHoldTheValue) {
  struct Case {
    Ints dims, low, high;
  };
  const std::vector<Case> cases = {
      {{3}, {2}, {1}},
      {{2, 3}, {0, 0}, {0, 0}},
      {{2, 3, 4}, {1, 0, 2}, {0, 3, 0}},
      {{2, 3, 4, 5}, {0, 1, 1, 0}, {0, 2, 1, 0}},
      {{0, 3}, {1, 0}, {0, 0}},
      {{1, 0, 2}, {0, 1, 0}, {0, 0, 1}},
      {{2, 0}, {0, 2}, {1, 0}},
      {{}, {}, {}},
  };
  for (DType t : kNumbers) {
    for (const Case& c : cases) {
      const Array x = counted(t, c.dims);
      const Array margin = Array::full(t, {}, 3);
      const Array y =
          run(kernels::make_pad, attrs::pad{.low = c.low, .high = c.high, .value = 3}, {x})[0];
      for_each_index(y.dims(), [&](const Ints& at) {
        Ints from = at;
        bool inside = true;
        for (size_t i = 0; i < at.size(); ++i) {
          from[i] -= c.low[i];
          inside = inside && from[i] >= 0 && from[i] < c.dims[i];
        }
        const std::string expected =
            inside ? element(x, offset_of(x.dims(), from)) : element(margin, 0);
        EXPECT_EQ(element(y, offset_of(y.dims(), at)), expected) << name_of(t) << x.shape().str();
      });
    }
  }
}

TEST(Gather, TakesRows) {
  for (DType t : {DType::bool_, DType::float16, DType::float32, DType::int64}) {
    for (DType index : {DType::int32, DType::int64}) {
      for (int64_t axis : {0, 1, 2, -2}) {
        const auto k = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
        const Array x = counted(t, {3, 4, 5});
        const Array at = indices_of(index, {2, 0, 1, 1, 2, 0}, {2, 3});
        const Array y = run(kernels::make_gather, attrs::gather{.axis = axis}, {x, at})[0];
        const auto picks = at.to_vector<int64_t>();
        expect_moved(x, y, [&](const Ints& i) {
          Ints from{i[0], i[1], i[2]};
          from.resize(3);
          for (size_t d = 0; d < 3; ++d) from[d] = d < k ? i[d] : i[d + 1];
          from[k] = picks[static_cast<size_t>(i[k] * 3 + i[k + 1])];
          return from;
        });
      }
    }
  }
}

TEST(Gather, ScalarAndEmptyIndices) {
  const Array x = counted(DType::float32, {3, 2});
  const Array row =
      run(kernels::make_gather, attrs::gather{}, {x, indices_of(DType::int64, {2}, {})})[0];
  EXPECT_EQ(row.dims(), Ints{2});
  const Array none =
      run(kernels::make_gather, attrs::gather{}, {x, indices_of(DType::int32, {}, {0})})[0];
  EXPECT_EQ(none.dims(), (Ints{0, 2}));
}

TEST(Gather, IndexOutOfRange) {
  const Array x = counted(DType::float32, {5, 2});
  for (int64_t bad : {7, -1, 5}) {
    expect_error<IndexError>(
        [&] {
          run(kernels::make_gather, attrs::gather{}, {x, indices_of(DType::int64, {0, bad}, {2})});
        },
        "gather: index " + std::to_string(bad) + " is out of range for axis 0 of size 5.");
  }
  expect_error<IndexError>(
      [&] {
        run(kernels::make_gather, attrs::gather{.axis = -1},
            {x, indices_of(DType::int32, {2}, {1})});
      },
      "gather: index 2 is out of range for axis 1 of size 2.");
}

TEST(ScatterAdd, SumsUpdates) {
  for (DType t : kNumbers) {
    for (int64_t axis : {0, 1}) {
      const Ints shape{3, 4, 2};
      const std::vector<int64_t> at = {1, 0, 1, 2, 1, 0};
      Ints dims = axis == 0 ? Ints{2, 3, 4, 2} : Ints{3, 2, 3, 2};
      const Array updates = random_array(t, dims, 0, 4);
      const Array y =
          run(kernels::make_scatter_add, attrs::scatter_add{.axis = axis, .shape = shape},
              {indices_of(DType::int32, at, {2, 3}), updates})[0];
      std::vector<double> expected(24, 0.0);
      const auto values = updates.to_vector<double>();
      for_each_index(dims, [&](const Ints& i) {
        const auto k = static_cast<size_t>(axis);
        Ints to;
        for (size_t d = 0; d < i.size(); ++d)
          if (d != k + 1)
            to.push_back(d == k ? at[static_cast<size_t>(i[k] * 3 + i[k + 1])] : i[d]);
        expected[static_cast<size_t>(offset_of(shape, to))] +=
            values[static_cast<size_t>(offset_of(dims, i))];
      });
      expect_near(y, expected, tolerance_of(t));
    }
  }
}

TEST(ScatterAdd, SameOnAnyNumberOfThreads) {
  const int64_t rows = 3000, width = 33, count = 20000;
  const Array updates = random_array(DType::float32, {count, width}, -1, 1);
  const Array at = random_array(DType::int64, {count}, 0, rows);
  const attrs::scatter_add a{.axis = 0, .shape = {rows, width}};
  set_thread_count(1);
  const Array one = run(kernels::make_scatter_add, a, {at, updates})[0];
  set_thread_count(5);
  const Array five = run(kernels::make_scatter_add, a, {at, updates})[0];
  set_thread_count(0);
  EXPECT_EQ(std::memcmp(one.raw(), five.raw(), one.nbytes()), 0);
}

TEST(ScatterAdd, EmptyAndErrors) {
  const Array y = run(kernels::make_scatter_add, attrs::scatter_add{.shape = {2, 3}},
                      {indices_of(DType::int64, {}, {0}), Array(DType::float32, {0, 3})})[0];
  expect_near(y, std::vector<double>(6, 0.0), 0);
  expect_error<IndexError>(
      [&] {
        run(kernels::make_scatter_add, attrs::scatter_add{.shape = {2}},
            {indices_of(DType::int64, {-3}, {1}), Array::zeros(DType::float32, {1})});
      },
      "scatter_add: index -3 is out of range for axis 0 of size 2.");
  // A result without elements still checks its indices.
  expect_error<IndexError>(
      [&] {
        run(kernels::make_scatter_add, attrs::scatter_add{.shape = {0}},
            {indices_of(DType::int64, {0}, {1}), Array::zeros(DType::float32, {1})});
      },
      "scatter_add: index 0 is out of range for axis 0 of size 0.");
}

TEST(ScatterAdd, HalfSumsInFloat32) {
  // 1 + 4096 halves of the smallest step: each alone would be lost.
  const int64_t n = 4097;
  Array updates = Array::full(DType::float16, {n}, 0x1p-12);
  updates.data<float16_t>()[0] = to_float16(1.0f);
  const Array y = run(kernels::make_scatter_add, attrs::scatter_add{.shape = {1}},
                      {Array::zeros(DType::int64, {n}), updates})[0];
  EXPECT_EQ(y.item<double>(), 2.0);
}

}  // namespace
}  // namespace horngate
