// Helpers of the tests of src/api: values as doubles, runs with known or open shapes, gradients
// against finite differences, texts of errors.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "error_of.h"
#include "horngate/horngate.h"

namespace horngate::testing_api {

/// A dense array of doubles with its shape.
struct Value {
  Ints dims;
  std::vector<double> data;

  Value() = default;
  Value(Ints d, double fill = 0.0)
      : dims(std::move(d)), data(static_cast<size_t>(count(dims)), fill) {}
  Value(Ints d, std::vector<double> v) : dims(std::move(d)), data(std::move(v)) {}
  static int64_t count(const Ints& d) {
    return std::accumulate(d.begin(), d.end(), int64_t{1}, std::multiplies<>());
  }
  int64_t size() const { return static_cast<int64_t>(data.size()); }
  double& at(const Ints& i) { return data[offset(i)]; }
  double at(const Ints& i) const { return data[offset(i)]; }
  size_t offset(const Ints& i) const {
    int64_t o = 0;
    for (size_t k = 0; k < dims.size(); ++k) o = o * dims[k] + i[k];
    return static_cast<size_t>(o);
  }
  Array array(DType dtype = DType::float64) const { return Array::of(data, dims).cast(dtype); }
};

/// Repeatable numbers of [low, high), without structure.
inline Value noise(Ints dims, uint64_t seed, double low = -1.0, double high = 1.0) {
  Value v(std::move(dims));
  uint64_t s = seed * 0x9E3779B97F4A7C15u + 1;
  for (double& x : v.data) {
    s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    x = low + (high - low) * static_cast<double>(s >> 11) * 0x1.0p-53;
  }
  return v;
}

inline Value value_of(const Array& a) { return {a.dims(), a.to_vector<double>()}; }

using Op = std::function<Tensor(const Tensors&)>;

/// The op on placeholders that know their shape, or (open) only their rank.
inline Value run(const Op& op, const std::vector<Value>& feed, bool open = false,
                 DType dtype = DType::float64) {
  Tensors in;
  Arrays arrays;
  for (const Value& v : feed) {
    const Ints dims = open ? Ints(v.dims.size(), Shape::kUnknown) : v.dims;
    in.push_back(placeholder({.shape = Shape(dims), .dtype = dtype}));
    arrays.push_back(v.array(dtype));
  }
  return value_of(function(in, {op(in)})(arrays)[0]);
}

inline void expect_near(const Value& got, const Value& want, double tolerance = 1e-9) {
  ASSERT_EQ(got.dims, want.dims);
  for (int64_t i = 0; i < got.size(); ++i) {
    const double a = got.data[static_cast<size_t>(i)], b = want.data[static_cast<size_t>(i)];
    if (std::isnan(b))
      EXPECT_TRUE(std::isnan(a)) << "element " << i << " is " << a;
    else
      EXPECT_NEAR(a, b, tolerance * std::max(1.0, std::abs(b))) << "element " << i;
  }
}

/// Derivatives of sum(op(x) * w), w some weights, by every input, against central differences.
/// `open` as in run.
inline void check_gradient(const Op& op, const std::vector<Value>& feed, bool open = false,
                           double tolerance = 1e-5) {
  Tensors in;
  Arrays arrays;
  for (const Value& v : feed) {
    const Ints dims = open ? Ints(v.dims.size(), Shape::kUnknown) : v.dims;
    in.push_back(placeholder({.shape = Shape(dims), .dtype = DType::float64}));
    arrays.push_back(v.array());
  }
  const Tensor y = op(in);
  const Value first = value_of(function(in, {y})(arrays)[0]);
  const Tensor weights = constant(noise(first.dims, 99, 0.5, 1.5).array());
  const Tensor loss = sum(y * weights);
  Tensors outputs = gradients(loss, in, {.strict = true});
  const Arrays got = function(in, outputs)(arrays);
  const Function value = function(in, {loss});
  constexpr double kStep = 1e-5;
  for (size_t k = 0; k < feed.size(); ++k) {
    const Value d = value_of(got[k]);
    ASSERT_EQ(d.dims, feed[k].dims);
    for (int64_t i = 0; i < d.size(); ++i) {
      const auto at = [&](double step) {
        Value moved = feed[k];
        moved.data[static_cast<size_t>(i)] += step;
        Arrays a = arrays;
        a[k] = moved.array();
        return value(a)[0].item<double>();
      };
      const double want = (at(kStep) - at(-kStep)) / (2 * kStep);
      EXPECT_NEAR(d.data[static_cast<size_t>(i)], want, tolerance * std::max(1.0, std::abs(want)))
          << "input " << k << ", element " << i;
    }
  }
}

/// Text of the ValueError, or other error, that f throws.
template <class E = ValueError, class F>
std::string error_of(F&& f) {
  return testing::error_of<E>(f);
}

/// A float32 placeholder.
inline Tensor input(const Shape& shape, DType dtype = DType::float32) {
  return placeholder({.shape = shape, .dtype = dtype});
}

}  // namespace horngate::testing_api
