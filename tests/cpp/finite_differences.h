// Gradients against finite differences in float64, and small helpers that the tests share.
#pragma once

#include <gtest/gtest.h>
#include <horngate/horngate.h>

#include <cmath>
#include <random>

namespace horngate::testing {

inline Array random_array(Ints dims, uint64_t seed = 0, double low = -1.0, double high = 1.0) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Array a(DType::float64, std::move(dims));
  for (int64_t i = 0; i < a.size(); ++i) a.data<double>()[i] = uniform(random);
  return a;
}

inline Array random_floats(Ints dims, uint64_t seed = 0) {
  return random_array(std::move(dims), seed).cast(DType::float32);
}

inline Tensor input64(ShapeOption shape) {
  return placeholder({.shape = shape, .dtype = DType::float64});
}

/// Compares d(sum of y * weights) / dx, for each x, with central differences at the given point.
inline void expect_gradients(const std::vector<Tensor>& xs, const Tensor& y, const Arrays& at,
                             double tolerance = 1e-6, double step = 1e-5) {
  const Array shape_probe = function(xs, {y})(at)[0];
  const Tensor weights = constant(random_array(shape_probe.dims(), 99));
  const Tensor loss = sum(y * weights);
  const Tensors grads = gradients(loss, xs);
  std::vector<Tensor> outputs;
  for (const Tensor& g : grads) {
    ASSERT_TRUE(g.defined()) << "no gradient flows";
    outputs.push_back(g);
  }
  const Arrays exact = function(xs, outputs)(at);
  const Function value = function(xs, {loss});
  for (size_t k = 0; k < xs.size(); ++k) {
    ASSERT_EQ(exact[k].shape().str(), at[k].shape().str());
    for (int64_t i = 0; i < at[k].size(); ++i) {
      Arrays moved = at;
      const auto probe = [&](double delta) {
        moved[k] = at[k].copy();
        moved[k].data<double>()[i] += delta;
        return value(moved)[0].item<double>();
      };
      const double difference = (probe(step) - probe(-step)) / (2 * step);
      const double got = exact[k].data<double>()[i];
      ASSERT_NEAR(got, difference, tolerance * std::max(1.0, std::fabs(difference)))
          << "input " << k << ", element " << i << " of shape " << at[k].shape().str();
    }
  }
}

/// First and second derivatives: the gradient of a function of the gradient is checked too.
inline void expect_two_gradients(const std::vector<Tensor>& xs, const Tensor& y, const Arrays& at,
                                 double tolerance = 1e-6) {
  expect_gradients(xs, y, at, tolerance);
  const Tensors first = gradients(sum(y * y), xs);
  Tensor total;
  for (const Tensor& g : first) total = total.defined() ? total + sum(g * g) : sum(g * g);
  expect_gradients(xs, total, at, tolerance * 100, 1e-5);
}

}  // namespace horngate::testing
