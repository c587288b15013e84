// The program of README.md, against the installed headers and library; learns for a few steps.
#include <horngate/horngate.h>
namespace K = horngate;

#include <cstdio>

int main() {
  const K::Array xs = K::Array::full(K::DType::float32, {32, 784}, 0.5);
  K::Array ts = K::Array::zeros(K::DType::float32, {32, 10});
  for (int64_t i = 0; i < 32; ++i) ts.data<float>()[i * 10 + 3] = 1.0f;

  auto x = K::placeholder({.shape = {K::None, 784}, .name = "x"});
  auto t = K::placeholder({.shape = {K::None, 10}});
  auto w = K::variable(K::zeros_array({784, 10}), {.name = "w"});
  auto loss = K::mean(K::categorical_crossentropy(t, K::softmax(K::dot(x, w))));
  auto grads = K::gradients(loss, {w});
  auto train = K::function({x, t}, {loss}, {K::update_sub(w, 0.1 * grads[0])});
  float value = train({xs, ts})[0].item<float>();

  const float first = value;
  for (int i = 0; i < 5; ++i) value = train({xs, ts})[0].item<float>();
  std::printf("loss %.4f, then %.4f\n", first, value);
  return value < first ? 0 : 1;
}
