// Sparse values between the primitives of a graph: what takes them, what they cost, where they run.
#include <gtest/gtest.h>
#include <horngate/horngate.h>

#include <random>

#include "error_of.h"
#include "on_engine.h"
#include "plan/function_impl.h"

namespace horngate {
namespace {

namespace K = horngate;

struct Matrix {
  Array sparse;
  std::vector<float> dense;
  int64_t rows, columns;
};

Matrix random_matrix(int64_t rows, int64_t columns, double density, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::uniform_real_distribution<double> law(0, 1);
  Matrix m{{}, std::vector<float>(static_cast<size_t>(rows * columns)), rows, columns};
  std::vector<int64_t> indptr{0}, indices;
  std::vector<float> values;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      if (law(bits) >= density) continue;
      indices.push_back(c);
      values.push_back(static_cast<float>(1 + law(bits)));
      m.dense[static_cast<size_t>(r * columns + c)] = values.back();
    }
    indptr.push_back(static_cast<int64_t>(indices.size()));
  }
  const auto n = static_cast<int64_t>(values.size());
  m.sparse = Array::sparse(Array::of(indptr, {rows + 1}), Array::of(indices, {n}),
                           Array::of(values, {n}), {rows, columns});
  return m;
}

std::vector<float> dense_of(const Array& a) {
  const auto& p = a.sparse_parts();
  std::vector<float> out(static_cast<size_t>(a.dims()[0] * a.dims()[1]));
  for (int64_t r = 0; r < a.dims()[0]; ++r)
    for (int64_t e = p.indptr.data<int64_t>()[r]; e < p.indptr.data<int64_t>()[r + 1]; ++e)
      out[static_cast<size_t>(r * a.dims()[1] + p.indices.data<int64_t>()[e])] +=
          p.values.data<float>()[e];
  return out;
}

std::vector<float> beside(const Matrix& a, const Matrix& b) {
  std::vector<float> out;
  for (int64_t r = 0; r < a.rows; ++r) {
    out.insert(out.end(), a.dense.begin() + r * a.columns, a.dense.begin() + (r + 1) * a.columns);
    out.insert(out.end(), b.dense.begin() + r * b.columns, b.dense.begin() + (r + 1) * b.columns);
  }
  return out;
}

Tensor sparse_input(Shape shape) { return K::placeholder({.shape = shape, .sparse = true}); }

template <class E = TypeError, class F>
std::string error_of(F&& f) {
  return testing::error_of<E>(f);
}

TEST(Sparse, IntermediatesOfOnePlanForAnyCount) {
  const Tensor a = sparse_input({None, 3}), b = sparse_input({None, 4});
  const Tensor both = K::concatenate({a, b}, 1), turned = K::transpose(both);
  EXPECT_TRUE(both.is_sparse() && turned.is_sparse());
  EXPECT_EQ(both.shape(), (Shape{None, 7}));
  EXPECT_EQ(turned.shape(), (Shape{7, None}));
  const Variable w = K::variable(K::ones_array({5, 2}));
  const Tensor y = K::dot(turned, w);
  const Tensor dw = K::gradients(K::sum(y * y), {w})[0];
  const Function f = K::function({a, b}, {both, turned, y, dw, K::to_dense(both)});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const double density = static_cast<double>(seed) / 19;
    const Matrix m = random_matrix(5, 3, density, seed),
                 n = random_matrix(5, 4, density, seed + 50);
    const std::vector<float> want = beside(m, n);
    const Arrays out = f({m.sparse, n.sparse});
    ASSERT_TRUE(out[0].is_sparse() && out[1].is_sparse());
    EXPECT_EQ(out[1].dims(), (Ints{7, 5}));
    EXPECT_EQ(dense_of(out[0]), want);
    EXPECT_EQ(out[4].to_vector<float>(), want);
    const std::vector<float> transposed = dense_of(out[1]), product = out[2].to_vector<float>(),
                             gradient = out[3].to_vector<float>();
    for (size_t r = 0; r < 5; ++r) {
      double d = 0;  // 2 sum_c s[r, c] (column sum of c)
      for (size_t c = 0; c < 7; ++c) {
        EXPECT_EQ(transposed[c * 5 + r], want[r * 7 + c]);
        double sum = 0;
        for (size_t k = 0; k < 5; ++k) sum += want[k * 7 + c];
        EXPECT_NEAR(product[c * 2], sum, 1e-5);
        d += 2 * want[r * 7 + c] * sum;
      }
      EXPECT_NEAR(gradient[r * 2 + 1], d, 1e-3);
    }
  }
  EXPECT_EQ(f.impl()->plans_made(), 1u);
}

TEST(Sparse, FetchedInputsAreCopies) {
  const Tensor a = sparse_input({3, 3});
  const Tensor same = K::identity(a);
  EXPECT_TRUE(same.is_sparse());
  const Matrix m = random_matrix(3, 3, 0.5, 1);
  const Arrays out = K::function({a}, {a, same, a})({m.sparse});
  for (const Array& x : out) {
    EXPECT_EQ(dense_of(x), m.dense);
    EXPECT_NE(x.sparse_parts().values.raw(), m.sparse.sparse_parts().values.raw());
  }
  const Variable v = K::variable(m.sparse);
  EXPECT_EQ(dense_of(K::function({}, {v})()[0]), m.dense);
  EXPECT_EQ(dense_of(K::eval(K::transpose(K::transpose(v)))), m.dense);
}

TEST(Sparse, ResultsOutliveTheFunction) {
  Array kept;
  const Matrix m = random_matrix(4, 3, 0.5, 1);
  {
    const Tensor a = sparse_input({4, 3});
    const Function f = K::function({a}, {K::transpose(K::transpose(a))});
    kept = f({m.sparse})[0];
    (void)f({random_matrix(4, 3, 0.9, 2).sparse});
  }
  EXPECT_EQ(dense_of(kept), m.dense);
}

// The count decides a shape, so the graph is cut, and the sparse value goes over the cut.
TEST(Sparse, CrossesAPlanThatWaitsForShapes) {
  const Tensor a = sparse_input({2, 3});
  const Tensor both = K::concatenate({a, a}, 0);
  const Tensor n = K::cast(K::sum(K::to_dense(both)), DType::int32);
  const Tensor row = K::ones({n}, {.dtype = DType::float32});
  const Tensor y = K::dot(both, K::constant(K::ones_array({3, 1}))) + K::sum(row);
  const Array ones = Array::sparse(Array::of<int64_t>({0, 1, 3}), Array::of<int64_t>({2, 0, 1}),
                                   Array::of<float>({1, 1, 1}), {2, 3});
  const Arrays out = K::function({a}, {y, both})({ones});
  EXPECT_EQ(out[0].to_vector<float>(), (std::vector<float>{7, 8, 7, 8}));
  EXPECT_EQ(dense_of(out[1]), (std::vector<float>{0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0}));
}

TEST(Sparse, StepFunctionsMayCaptureOne) {
  const Tensor a = sparse_input({2, 2}), x = K::placeholder({.shape = {1, 3, 2}});
  const Tensor turned = K::transpose(a);
  const RnnResult r = K::rnn(
      [&](const Tensor& x_t, const Tensors& states) {
        const Tensor h = K::transpose(K::dot(turned, K::transpose(states[0]))) + x_t;
        return RnnStep{h, {h}};
      },
      x, {K::constant(Array::of<float>({1, 0}, {1, 2}))});
  // turned = [[0, 3], [2, 0]]: (1, 0) -> (0, 2) -> (6, 0) -> (0, 12), plus nothing
  const Array m = Array::sparse(Array::of<int64_t>({0, 1, 2}), Array::of<int64_t>({1, 0}),
                                Array::of<float>({2, 3}), {2, 2});
  const Arrays out =
      K::function({a, x}, {r.last_output})({m, Array::zeros(DType::float32, {1, 3, 2})});
  EXPECT_EQ(out[0].to_vector<float>(), (std::vector<float>{0, 12}));
}

TEST(Sparse, LabelsKeepTheirZeros) {
  const Tensor labels = K::constant(Array::of<int32_t>({0, 2, 5, 3, 0, 7}, {2, 3}));
  const Tensor s = K::ctc_label_dense_to_sparse(labels, K::constant(Array::of<int32_t>({2, 9})));
  EXPECT_TRUE(s.is_sparse());
  const Array got = K::eval(s);
  EXPECT_EQ(got.sparse_parts().values.to_vector<int32_t>(), (std::vector<int32_t>{0, 2, 3, 0, 7}));
  EXPECT_EQ(got.sparse_parts().indptr.to_vector<int64_t>(), (std::vector<int64_t>{0, 2, 5}));
  EXPECT_EQ(error_of<ValueError>([] {
              (void)K::ctc_label_dense_to_sparse(K::placeholder({.ndim = 1}),
                                                 K::placeholder({.ndim = 1}));
            }),
            "ctc_label_dense_to_sparse: labels must have 2 dimensions (samples, longest); got "
            "shape (None,).");
  EXPECT_EQ(error_of<ValueError>([&] {
              (void)K::ctc_label_dense_to_sparse(labels, K::placeholder({.shape = {3}}));
            }),
            "ctc_label_dense_to_sparse: label_lengths must have 2 entries, as labels of shape (2, "
            "3); got shape (3,).");
}

TEST(Sparse, EverythingElseIsATypeErrorWithItsName) {
  const Tensor s = K::transpose(sparse_input({2, 2})), d = K::placeholder({.shape = {2, 2}});
  const std::string end =
      " must be dense; got a sparse tensor of shape (2, 2). Convert it with to_dense.";
  EXPECT_EQ(error_of([&] { (void)K::exp(s); }), "exp: x" + end);
  EXPECT_EQ(error_of([&] { (void)K::reshape(s, {4}); }), "reshape: x" + end);
  EXPECT_EQ(error_of([&] { (void)K::dot(d, s); }), "dot: y" + end);
  EXPECT_EQ(error_of([&] { (void)K::batch_dot(s, d); }), "batch_dot: x" + end);
  EXPECT_EQ(error_of([&] { (void)K::cast(s, DType::float64); }), "cast: x" + end);
  EXPECT_EQ(error_of([&] { (void)K::permute_dimensions(s, {1, 0}); }),
            "permute_dimensions: x" + end);
  EXPECT_EQ(error_of([&] { (void)K::map_fn([&](const Tensor&) { return s; }, d); }),
            "map_fn: the result of fn" + end);
  EXPECT_EQ(
      error_of([&] {
        (void)K::concatenate(
            {s, K::placeholder({.shape = Shape{2, 2}, .dtype = DType::float64, .sparse = true})});
      }),
      "concatenate: a sparse tensor must have the dtype of the result, float64; got float32.");
}

/// What has no meaning for a sparse value is an error, and no look at memory that there is not.
TEST(Sparse, NeitherVariablesNorConstantsThatAreDenseTakeOne) {
  const Array a = random_matrix(2, 2, 0.5, 3).sparse;
  const Variable v = K::variable(K::zeros_array({2, 2}), {.name = "w"});
  const std::string name = v.name().substr(0, v.name().find('/'));
  const std::string end =
      ": the new value must be dense; got a sparse tensor of shape (2, 2). Convert it with "
      "to_dense.";
  const Tensor s = K::variable(a);
  EXPECT_EQ(error_of([&] { (void)K::update(v, s); }), "update" + end);
  EXPECT_EQ(error_of([&] { (void)K::update_add(v, s); }), "update_add" + end);
  EXPECT_EQ(error_of([&] { (void)K::function({}, {}, {{v, s}}); }), "update" + end);
  EXPECT_EQ(error_of([&] { K::set_value(v, a); }),
            "set_value: variable \"" + name + "\" takes a dense array; got a sparse one.");
  EXPECT_EQ(error_of([&] { (void)K::constant(a); }),
            "constant: value must be dense; got a sparse array. Use variable().");
  EXPECT_EQ(K::get_value(v).to_vector<float>(), (std::vector<float>(4, 0.f)));
}

TEST(Sparse, VariablesShareNoMemoryWithTheirCaller) {
  const auto ints = [](std::vector<int64_t> v) { return Array::of(v); };
  Array values = Array::of({1.f, 1.f});
  const Array s = Array::sparse(ints({0, 1, 2}), ints({0, 1}), values, {2, 2});
  const Variable v = K::variable(s);
  const K::Function f = K::function({}, {K::dot(v, K::ones({2, 1}))});
  values.data<float>()[0] = 9;
  EXPECT_EQ(f()[0].to_vector<float>(), (std::vector<float>{1, 1}));
  for (const Array& held : {K::get_value(v), K::batch_get_value({v})[0]}) {
    const_cast<float*>(held.sparse_parts().values.data<float>())[0] = 5;
    EXPECT_EQ(f()[0].to_vector<float>(), (std::vector<float>{1, 1}));
  }
  const Arrays twice = K::function({}, {v, v})();
  const_cast<float*>(twice[0].sparse_parts().values.data<float>())[0] = 5;
  EXPECT_EQ(twice[1].sparse_parts().values.to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(f()[0].to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(Sparse, MembersOfDenseArraysAreErrors) {
  const auto ints = [](std::vector<int64_t> v) { return Array::of(v); };
  const Array a = Array::sparse(ints({0, 1}), ints({0}), Array::of({1.f}), {1, 1});
  const Array none{};
  EXPECT_EQ(a.str(), "<sparse (1, 1) with 1 elements>");
  EXPECT_THROW((void)a[0], TypeError);
  EXPECT_THROW((void)a(0, 0), TypeError);
  EXPECT_THROW((void)a.item<float>(), TypeError);
  EXPECT_THROW((void)a.data<float>(), TypeError);
  EXPECT_THROW((void)a.to_vector<float>(), TypeError);
  EXPECT_THROW((void)a.to_vector<double>(), TypeError);
  EXPECT_THROW((void)a.reshape({-1}), TypeError);
  EXPECT_THROW((void)a.to_dlpack(), TypeError);
  EXPECT_THROW((void)Array::sparse(a, a, a, {1, 1}), TypeError);
  EXPECT_EQ(error_of<ValueError>([&] { (void)none.copy(); }),
            "array: copy() needs elements; the array is empty.");
  EXPECT_THROW((void)none.cast(DType::float64), ValueError);
  EXPECT_THROW((void)none.to_vector<float>(), ValueError);
  EXPECT_THROW((void)Array::sparse(none, none, none, {2, 2}), ValueError);
}

// An engine without sparse values: they stay on native, the rest is the engine's.
TEST(Sparse, EnginesWithoutItGetTheDenseParts) {
  const testing::OnEngine engine("stub");
  const Tensor a = sparse_input({2, 2}), y = K::placeholder({.shape = {2, 2}});
  const Tensor both = K::concatenate({a, a}, 1);
  const Tensor first = K::dot(a, y * y);                            // stub, then native
  const Tensor second = K::dot(K::transpose(both), first + first);  // stub, then native again
  const Function f = K::function({a, y}, {second + second, both, a});
  const Array m = Array::sparse(Array::of<int64_t>({0, 1, 2}), Array::of<int64_t>({1, 0}),
                                Array::of<float>({2, 3}), {2, 2});
  const Arrays out = f({m, Array::of<float>({1, 2, 3, 4}, {2, 2})});
  // a (y * y) = [[18, 32], [3, 12]]; a^T of it = [[9, 36], [36, 64]], times 4, twice
  EXPECT_EQ(out[0].to_vector<float>(), (std::vector<float>{36, 144, 144, 256, 36, 144, 144, 256}));
  EXPECT_EQ(dense_of(out[1]), (std::vector<float>{0, 2, 0, 2, 3, 0, 3, 0}));
  EXPECT_EQ(dense_of(out[2]), (std::vector<float>{0, 2, 3, 0}));
}

}  // namespace
}  // namespace horngate
