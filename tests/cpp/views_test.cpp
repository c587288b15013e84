// Parts of concats and slices that have no memory of their own, together with whatever else reads them.
#include <gtest/gtest.h>

#include <cmath>

#include "finite_differences.h"
#include "horngate/horngate.h"
#include "ir/switches.h"

namespace horngate {
namespace {

using testing::random_array;
using testing::random_floats;

Tensor input(ShapeOption shape) { return placeholder({.shape = std::move(shape)}); }

void expect_close(const Array& got, const std::vector<double>& want, double tolerance = 1e-5) {
  const std::vector<float> values = got.to_vector<float>();
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], tolerance) << "at " << i;
}

TEST(Views, APartOfAConcatIsReadByAnotherGroup) {
  const Tensor x = input({2, 3}), y = input({2, 2});
  const Tensor e = exp(x);
  const Function f = function({x, y}, {concatenate({e, exp(y)}, 1), e + 1.0f});
  const Array a = random_floats({2, 3}), b = random_floats({2, 2}, 1);
  for (int call = 0; call < 3; ++call) {
    const Arrays got = f({a, b});
    std::vector<double> joined, more;
    for (int64_t r = 0; r < 2; ++r) {
      for (int64_t c = 0; c < 3; ++c) joined.push_back(std::exp(a.data<float>()[r * 3 + c]));
      for (int64_t c = 0; c < 2; ++c) joined.push_back(std::exp(b.data<float>()[r * 2 + c]));
      for (int64_t c = 0; c < 3; ++c) more.push_back(std::exp(a.data<float>()[r * 3 + c]) + 1);
    }
    expect_close(got[0], joined);
    expect_close(got[1], more);
  }
}

TEST(Views, GradientsOfTwoBranchesThatAreJoined) {
  const Tensor x = input({None, 3}), y = input({None, 3});
  const Tensor loss = sum(square(concatenate({tanh(x), tanh(y)}, 1)));
  const Function f = function({x, y}, gradients(loss, {x, y}));
  Array half(DType::float32, {4, 3});
  std::fill_n(half.data<float>(), 12, 0.5f);
  const double t = std::tanh(0.5);
  for (int call = 0; call < 3; ++call)
    for (const Array& g : f({half, half}))
      expect_close(g, std::vector<double>(12, 2 * t * (1 - t * t)));
}

TEST(Views, AUniformPartIsReadWhereItLies) {
  const Tensor x = input({5, 1}), y = input({5, 7}), z = input({5, 7});
  const Tensor s = tanh(x);  // one element per row, a part, and broadcast by another group
  const Function f = function({x, y, z}, {concatenate({s, y * 2.0f}, 1), sum(s * z, {.axis = 1})});
  const Array a = random_floats({5, 1}), b = random_floats({5, 7}, 1), c = random_floats({5, 7}, 2);
  const Arrays got = f({a, b, c});
  for (int64_t r = 0; r < 5; ++r) {
    const double want = std::tanh(a.data<float>()[r]);
    EXPECT_NEAR(got[0].data<float>()[r * 8], want, 1e-6);
    double total = 0;
    for (int64_t k = 0; k < 7; ++k) total += want * c.data<float>()[r * 7 + k];
    EXPECT_NEAR(got[1].data<float>()[r], total, 1e-5);
  }
}

/// Equal updates are merged into the step of the first; one that reads a concat waits for all of its parts.
TEST(Views, UpdatesThatReadAConcat) {
  constexpr int64_t kRows = 3;
  const Variable u = variable(random_array({kRows, 2}, 1)),
                 v = variable(random_array({kRows, 2}, 2));
  const Variable w = variable(random_array({kRows, 4}, 3));
  const Tensor x = input({kRows, 2});
  const Tensor p = u + 0.5f * x, q = v + 0.5f * tanh(x);
  const Function f = function(
      {x}, {sum(p)}, {update(u, p), update(v, q), update(w, w + 0.5f * concatenate({p, q}, 1))});
  const Array at = random_floats({kRows, 2}, 4);
  const std::vector<float> u0 = get_value(u).to_vector<float>(),
                           v0 = get_value(v).to_vector<float>(),
                           w0 = get_value(w).to_vector<float>();
  (void)f({at});
  const std::vector<float> w1 = get_value(w).to_vector<float>();
  for (size_t r = 0; r < kRows; ++r)
    for (size_t c = 0; c < 2; ++c) {
      const size_t i = r * 2 + c;
      const float a = at.data<float>()[i];
      EXPECT_NEAR(w1[r * 4 + c], w0[r * 4 + c] + 0.5 * (u0[i] + 0.5 * a), 1e-6);
      EXPECT_NEAR(w1[r * 4 + 2 + c], w0[r * 4 + 2 + c] + 0.5 * (v0[i] + 0.5 * std::tanh(a)), 1e-6);
    }
}

// More stretches of memory than the verifier lists one by one.
TEST(Views, ManyInterleavedPartsAreNoFault) {
  const bool before = is_verified();
  set_verified(true);
  const Tensor x = input({70'000, 1});
  const Array a = random_floats({70'000, 1});
  const Array got = function({x}, {concatenate({tanh(x), x * 2.0f, exp(x)}, 1)})({a})[0];
  set_verified(before);
  for (int64_t i : {0, 1, 40'000, 69'999}) {
    const double v = a.data<float>()[i];
    EXPECT_NEAR(got.data<float>()[3 * i], std::tanh(v), 1e-6);
    EXPECT_NEAR(got.data<float>()[3 * i + 1], 2 * v, 1e-6);
    EXPECT_NEAR(got.data<float>()[3 * i + 2], std::exp(v), 1e-5);
  }
}

}  // namespace
}  // namespace horngate
