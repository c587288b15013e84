// Kernels of products against slow, obvious loops.
#include <algorithm>

#include "engines/native/kernels/packed_gemm.h"
#include "engines/native/threads.h"
#include "kernel_runner.h"

namespace horngate::native {
namespace kernels {
KernelPtr make_dot_general(const KernelCall&);
KernelPtr make_sparse_dot(const KernelCall&);
KernelPtr make_to_dense(const KernelCall&);
}  // namespace kernels

namespace {

struct DotCase {
  Ints a, b, batch_a, batch_b, contract_a, contract_b;
};
const std::vector<DotCase> kDotCases = {
    {{3, 4}, {4, 5}, {}, {}, {1}, {0}},
    {{3, 4}, {5, 4}, {}, {}, {1}, {1}},
    {{4, 3}, {4, 5}, {}, {}, {0}, {0}},
    {{4, 3}, {5, 4}, {}, {}, {0}, {1}},
    {{1, 40}, {40, 33}, {}, {}, {1}, {0}},
    {{1, 40}, {33, 40}, {}, {}, {1}, {1}},
    {{37, 12}, {12, 1}, {}, {}, {1}, {0}},
    {{12, 37}, {12}, {}, {}, {0}, {0}},
    {{7}, {7}, {}, {}, {0}, {0}},
    {{5}, {6}, {}, {}, {}, {}},
    {{}, {2, 3}, {}, {}, {}, {}},
    {{6, 3, 4}, {6, 4, 5}, {0}, {0}, {2}, {1}},
    {{6, 3, 4}, {4, 6, 5}, {0}, {1}, {2}, {0}},  // batch in the middle
    {{2, 3, 4, 5}, {2, 3, 5, 4}, {0, 1}, {0, 1}, {3}, {2}},
    {{2, 3, 4, 5}, {3, 2, 5, 4}, {0, 1}, {1, 0}, {3}, {2}},  // batch axes in another order
    {{2, 3, 4}, {3, 4, 5}, {}, {}, {1, 2}, {0, 1}},          // tensordot
    {{2, 3, 4}, {4, 3, 5}, {}, {}, {1, 2}, {1, 0}},
    {{3, 2, 4}, {4, 5, 3}, {}, {}, {2, 0}, {0, 2}},
    {{4, 3}, {4, 3}, {0, 1}, {0, 1}, {}, {}},
    {{4, 3}, {4, 3}, {1}, {1}, {0}, {0}},
    {{3, 0}, {0, 4}, {}, {}, {1}, {0}},
    {{0, 3}, {3, 4}, {}, {}, {1}, {0}},
    {{110, 100}, {100, 100}, {}, {}, {1}, {0}},
    {{90, 64}, {48, 64}, {}, {}, {1}, {1}},
    {{3, 40, 33}, {3, 33, 70}, {0}, {0}, {2}, {1}},  // small products of a batch
    {{3, 40, 33}, {3, 70, 33}, {0}, {0}, {2}, {2}},
    {{3, 33, 40}, {3, 33, 70}, {0}, {0}, {1}, {1}},
};

/// Every pair of elements that agrees on batch and contracted axes, with the place of the product.
Numbers loop_dot(const DotCase& k, const Numbers& a, const Numbers& b, Ints* dims) {
  const auto rest = [](const Ints& all, const Ints& x, const Ints& y) {
    Ints r;
    for (int64_t i = 0; i < static_cast<int64_t>(all.size()); ++i)
      if (std::find(x.begin(), x.end(), i) == x.end() &&
          std::find(y.begin(), y.end(), i) == y.end())
        r.push_back(i);
    return r;
  };
  const Ints free_a = rest(k.a, k.batch_a, k.contract_a),
             free_b = rest(k.b, k.batch_b, k.contract_b);
  for (int64_t i : k.batch_a) dims->push_back(k.a[i]);
  for (int64_t i : free_a) dims->push_back(k.a[i]);
  for (int64_t i : free_b) dims->push_back(k.b[i]);
  Ints inner;
  for (int64_t i : k.contract_a) inner.push_back(k.a[i]);
  Numbers y;
  for_indices(*dims, [&](const Ints& at) {
    double sum = 0;
    for_indices(inner, [&](const Ints& c) {
      Ints ia(k.a.size(), 0), ib(k.b.size(), 0);
      size_t p = 0;
      for (size_t i = 0; i < k.batch_a.size(); ++i, ++p)
        ia[k.batch_a[i]] = ib[k.batch_b[i]] = at[p];
      for (int64_t i : free_a) ia[i] = at[p++];
      for (int64_t i : free_b) ib[i] = at[p++];
      for (size_t i = 0; i < c.size(); ++i) ia[k.contract_a[i]] = ib[k.contract_b[i]] = c[i];
      sum += a[flat(ia, k.a)] * b[flat(ib, k.b)];
    });
    y.push_back(sum);
  });
  return y;
}

TEST(DotKernels, DotGeneralMatchesLoops) {
  for (const DotCase& k : kDotCases)
    for (const DType dtype :
         {DType::float32, DType::float64, DType::float16, DType::int32, DType::int64}) {
      const Value a = random_value(dtype, k.a, 1), b = random_value(dtype, k.b, 2);
      Ints dims;
      const Numbers want = loop_dot(k, a.data, b.data, &dims);
      const attrs::dot_general attributes{k.batch_a, k.batch_b, k.contract_a, k.contract_b};
      const Numbers got =
          run(kernels::make_dot_general, attributes, {a, b}, {TensorType(dtype, Shape(dims))})[0];
      expect_close(got, want, dtype, text_of(dtype, " ", k.a, " ", k.b, " ", k.contract_a));
    }
}

TEST(DotKernels, TransposedMatricesMatchLoops) {
  for (const DotCase& k : {DotCase{{66, 390}, {70, 390}, {}, {}, {1}, {1}},
                           DotCase{{390, 65}, {70, 390}, {}, {}, {0}, {1}}}) {
    const Value a = random_value(DType::float32, k.a, 1), b = random_value(DType::float32, k.b, 2);
    Ints dims;
    const Numbers want = loop_dot(k, a.data, b.data, &dims);
    const attrs::dot_general attributes{k.batch_a, k.batch_b, k.contract_a, k.contract_b};
    const Numbers got = run(kernels::make_dot_general, attributes, {a, b},
                            {TensorType(DType::float32, Shape(dims))})[0];
    expect_close(got, want, DType::float32, text_of(k.a));
  }
}

TEST(DotKernels, IntegerProductsWrapAround) {
  const Value a{TensorType(DType::int8, Shape{1, 2}), {100, -3}},
      b{TensorType(DType::int8, Shape{2, 1}), {2, 1}};
  const attrs::dot_general attributes{{}, {}, {1}, {0}};
  EXPECT_EQ(run(kernels::make_dot_general, attributes, {a, b},
                {TensorType(DType::int8, Shape{1, 1})})[0][0],
            static_cast<int8_t>(197));
}

TEST(DotKernels, ProductsDoNotDependOnThreads) {
  for (const DotCase& k : {DotCase{{515, 300}, {300, 700}, {}, {}, {1}, {0}},
                           DotCase{{1, 3000}, {3000, 900}, {}, {}, {1}, {0}},
                           DotCase{{128, 500}, {500, 128}, {}, {}, {1}, {0}},
                           DotCase{{40, 128, 64}, {40, 64, 96}, {0}, {0}, {2}, {1}},
                           DotCase{{9, 70, 80}, {9, 80, 50}, {0}, {0}, {2}, {1}}}) {
    const Value a = random_value(DType::float32, k.a, 1), b = random_value(DType::float32, k.b, 2);
    Ints dims;
    for (int64_t i : k.batch_a) dims.push_back(k.a[i]);
    dims.push_back(k.a[k.a.size() - 2]);
    dims.push_back(k.b.back());
    const attrs::dot_general attributes{k.batch_a, k.batch_b, k.contract_a, k.contract_b};
    const TensorType out(DType::float32, Shape(dims));
    set_thread_count(1);
    const auto one = run(kernels::make_dot_general, attributes, {a, b}, {out});
    set_thread_count(3);
    const auto three = run(kernels::make_dot_general, attributes, {a, b}, {out});
    set_thread_count(0);
    EXPECT_EQ(one, three);
  }
}

TEST(DotKernels, PackedProductsMatchLoops) {
  const int64_t width = panel_width();
  for (int64_t m : {1, 2, 5, 8, 13, 40})
    for (int64_t n : {int64_t{1}, width - 1, width, 4 * width, 5 * width + 3})
      for (int64_t k : {1, 17, 64})
        for (bool transpose_a : {false, true})
          for (bool transpose_b : {false, true}) {
            const DotCase dot{transpose_a ? Ints{k, m} : Ints{m, k},
                              transpose_b ? Ints{n, k} : Ints{k, n},
                              {},
                              {},
                              {transpose_a ? 0 : 1},
                              {transpose_b ? 1 : 0}};
            const Value a = random_value(DType::float32, dot.a, 1),
                        b = random_value(DType::float32, dot.b, 2);
            Ints dims;
            const Numbers want = loop_dot(dot, a.data, b.data, &dims);
            const std::vector<float> from(a.data.begin(), a.data.end()),
                matrix(b.data.begin(), b.data.end());
            const Buffer panels(static_cast<size_t>(packed_floats(n, k)) * sizeof(float));
            const Buffer whole(want.size() * sizeof(float)), parts(want.size() * sizeof(float));
            pack_panels(transpose_b, n, k, matrix.data(), dot.b[1],
                        static_cast<float*>(panels.data()), 0, panel_count(n));
            PackedProduct p{m,
                            n,
                            k,
                            from.data(),
                            transpose_a ? 1 : k,
                            transpose_a ? m : 1,
                            static_cast<const float*>(panels.data()),
                            static_cast<float*>(whole.data())};
            run_panels(p, 0, panel_count(n));
            p.c = static_cast<float*>(parts.data());
            for (int64_t i = panel_count(n); i-- > 0;) run_panels(p, i, i + 1);
            for (const Buffer* buffer : {&panels, &whole, &parts}) buffer->check_guards();
            const auto count = static_cast<int64_t>(want.size());
            const Numbers got = load(whole.data(), DType::float32, count);
            expect_close(got, want, DType::float32, text_of(m, " ", n, " ", k));
            EXPECT_EQ(got, load(parts.data(), DType::float32, count));
          }
}

TEST(DotKernels, SparseMatchesDense) {
  // [[0, 2, 0], [0, 0, 0], [3, 0, -1], [5, 5, 0]] with the first 5 as 4 + 1
  const std::vector<int64_t> indptr = {0, 1, 1, 3, 6}, indices = {1, 0, 2, 0, 1, 0};
  const std::vector<float> values = {2, 3, -1, 4, 5, 1};
  const Numbers dense = {0, 2, 0, 0, 0, 0, 3, 0, -1, 5, 5, 0};
  const SparseView view{sizeof(SparseView), 6, indptr.data(), indices.data(), values.data()};
  const TensorType sparse(DType::float32, Shape{4, 3}, true);
  for (const bool transpose : {false, true}) {
    const int64_t m = transpose ? 3 : 4, k = transpose ? 4 : 3;
    const Value b = random_value(DType::float32, {k, 21}, 1);
    Ints dims;
    const DotCase same{{4, 3}, {k, 21}, {}, {}, {transpose ? 0 : 1}, {0}};
    const Numbers want = loop_dot(same, dense, b.data, &dims);
    std::vector<float> in(b.data.begin(), b.data.end()), out(static_cast<size_t>(m * 21));
    const AttrRef attrs(
        new AttrsOf<attrs::sparse_dot>(attrs::sparse_dot{.transpose_a = transpose}));
    const TensorType types[] = {sparse, b.type}, result(DType::float32, Shape{m, 21});
    const void* from[] = {&view, in.data()};
    void* to[] = {out.data()};
    const KernelPtr kernel = kernels::make_sparse_dot({types, {&result, 1}, attrs.get(), {}});
    std::vector<double> scratch(kernel->scratch_bytes() / sizeof(double));
    RunContext context;
    context.scratch = scratch.data();
    kernel->run(from, to, context);
    expect_close(Numbers(out.begin(), out.end()), want, DType::float32, "sparse_dot");
  }
  std::vector<float> out(12);
  const TensorType result(DType::float32, Shape{4, 3});
  const void* from[] = {&view};
  void* to[] = {out.data()};
  RunContext context;
  kernels::make_to_dense({{&sparse, 1}, {&result, 1}, nullptr, {}})->run(from, to, context);
  EXPECT_EQ(Numbers(out.begin(), out.end()), dense);
}

}  // namespace
}  // namespace horngate::native
