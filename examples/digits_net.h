// A small convolutional net for 8x8 digits, written against the K API; the demo trains it, a test checks its
// gradients.
#pragma once

#include <horngate/horngate.h>

#include <cmath>
#include <random>
#include <vector>

namespace digits {

namespace K = horngate;

struct Net {
  K::Tensor images, labels;  // (None, 8, 8, 1), (None, 10)
  K::Tensor probabilities, loss, accuracy;
  std::vector<K::Variable> weights;
};

/// Glorot-uniform values; fan_in and fan_out as the layer sees them.
inline K::Array glorot(std::mt19937_64& random, K::Ints dims, double fan_in, double fan_out,
                       K::DType dtype) {
  const double limit = std::sqrt(6.0 / (fan_in + fan_out));
  std::uniform_real_distribution<double> uniform(-limit, limit);
  K::Array a(K::DType::float64, dims);
  for (int64_t i = 0; i < a.size(); ++i) a.data<double>()[i] = uniform(random);
  return a.cast(dtype);
}

inline Net make_net(K::DType dtype, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Net net;
  net.images = K::placeholder({.shape = {K::None, 8, 8, 1}, .dtype = dtype, .name = "images"});
  net.labels = K::placeholder({.shape = {K::None, 10}, .dtype = dtype, .name = "labels"});
  const auto weight = [&](K::Ints dims, double fan_in, double fan_out, const char* name) {
    net.weights.push_back(
        K::variable(glorot(random, dims, fan_in, fan_out, dtype), {.name = name}));
    return net.weights.back();
  };
  const auto bias = [&](int64_t n, const char* name) {
    net.weights.push_back(K::variable(K::Array::zeros(dtype, {n}), {.name = name}));
    return net.weights.back();
  };

  const auto conv = [&](const K::Tensor& x, int64_t from, int64_t to, const char* name) {
    const K::Variable kernel = weight({3, 3, from, to}, 9.0 * from, 9.0 * to, name);
    return K::relu(
        K::bias_add(K::conv2d(x, kernel, {.padding = K::Padding::same}), bias(to, "conv_bias")));
  };
  K::Tensor x = conv(net.images, 1, 16, "conv1");
  x = K::pool2d(x, {2, 2}, {.strides = {2, 2}});
  x = conv(x, 16, 32, "conv2");
  x = K::pool2d(x, {2, 2}, {.strides = {2, 2}});
  x = K::batch_flatten(x);  // (None, 128)
  x = K::relu(K::dot(x, weight({128, 64}, 128, 64, "dense1")) + bias(64, "dense1_bias"));
  x = K::dot(x, weight({64, 10}, 64, 10, "dense2")) + bias(10, "dense2_bias");

  net.probabilities = K::softmax(x);
  net.loss = K::mean(K::categorical_crossentropy(net.labels, x, {.from_logits = true}));
  const K::Tensor right = K::equal(K::argmax(net.probabilities), K::argmax(net.labels));
  net.accuracy = K::mean(K::cast(right, dtype));
  return net;
}

/// Adam, from K functions. All updates of one call appear together.
inline std::vector<K::Update> adam(const K::Tensor& loss, const std::vector<K::Variable>& weights,
                                   double rate) {
  const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  const K::DType dtype = loss.dtype();
  const K::Tensors grads =
      K::gradients(loss, std::vector<K::Tensor>(weights.begin(), weights.end()));
  const K::Variable steps = K::variable(K::Array::zeros(dtype, {}), {.name = "steps"});
  std::vector<K::Update> updates{
      K::update_add(steps, K::constant(K::Array(1.0), {.dtype = dtype}))};
  const K::Tensor t = steps + 1.0;
  const K::Tensor scaled = rate * K::sqrt(1.0 - K::pow(beta2, t)) / (1.0 - K::pow(beta1, t));
  for (size_t i = 0; i < weights.size(); ++i) {
    const K::Variable m = K::variable(K::Array::zeros(dtype, weights[i].shape().dims()));
    const K::Variable v = K::variable(K::Array::zeros(dtype, weights[i].shape().dims()));
    const K::Tensor new_m = beta1 * m + (1.0 - beta1) * grads[i];
    const K::Tensor new_v = beta2 * v + (1.0 - beta2) * K::square(grads[i]);
    updates.push_back(K::update(m, new_m));
    updates.push_back(K::update(v, new_v));
    updates.push_back(K::update_sub(weights[i], scaled * new_m / (K::sqrt(new_v) + epsilon)));
  }
  return updates;
}

}  // namespace digits
